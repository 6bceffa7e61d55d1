# A worker in a container: docker build -t redsi-worker . after `make dist`, then
# docker run redsi-worker --temporal-address HOST:7233 --store s3://… (credentials in the environment).
# The archive is made outside, where it can be cached and tested; the image only unpacks it. tools/dist/parts.go says what
# is in it, and licenses and sbom.cdx.json in it what that is made of.
FROM debian:trixie-slim

# git fetches modules of pipelines; certificates are for stores and sources over https.
# Their versions are those of the base image's release, which security updates keep.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 redsi

ADD dist/redsi-*-linux-*.tar.gz /opt/
RUN ln -s /opt/redsi-*/bin/redsi /usr/local/bin/redsi

USER 1000
WORKDIR /home/redsi
# A worker that is told to end gives its steps back.
STOPSIGNAL SIGTERM
ENTRYPOINT ["redsi", "worker"]
