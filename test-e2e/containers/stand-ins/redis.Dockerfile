ARG DEBIAN=natter-stand-in/debian
FROM ${DEBIAN}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends redis-server redis-tools && rm -rf /var/lib/apt/lists/*
WORKDIR /data
CMD ["redis-server"]
