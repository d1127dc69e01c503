ARG DEBIAN=natter-stand-in/debian
FROM ${DEBIAN}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends nats-server && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["/usr/sbin/nats-server"]
