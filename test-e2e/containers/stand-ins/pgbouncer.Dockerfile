ARG DEBIAN=natter-stand-in/debian
FROM ${DEBIAN}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends pgbouncer && rm -rf /var/lib/apt/lists/*
USER nobody
CMD ["pgbouncer", "/etc/pgbouncer/pgbouncer.ini"]
