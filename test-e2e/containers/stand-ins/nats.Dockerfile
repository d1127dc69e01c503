FROM natter-stand-in/debian
RUN apt-get update -q && apt-get install -y -q --no-install-recommends nats-server && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["/usr/sbin/nats-server"]
