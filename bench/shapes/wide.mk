all: $(addprefix out/,$(shell mkdir -p out; seq COUNT))

out/%:
	echo $* > $@
