ARG DEBIAN=natter-stand-in/debian
FROM ${DEBIAN}
# The official image's number: who starts it as that user finds it.
RUN groupadd -g 999 postgres && useradd -u 999 -g 999 -d /var/lib/postgresql postgres
RUN apt-get update -q && apt-get install -y -q --no-install-recommends postgresql postgresql-client && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/*/main
COPY postgres-entrypoint.sh /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/local/bin/postgres-entrypoint.sh"]
CMD ["postgres"]
