head -c 1000000000 /dev/zero > x
mkdir out count end && cp x count && cp x end && ln x out/make
(cd count && wc -c < x > ../out/count)
(cd end && (cat ../out/count; tail -c 1 x) > ../out/end)
