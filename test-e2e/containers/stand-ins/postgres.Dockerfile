ARG DEBIAN=natter-stand-in/debian
FROM ${DEBIAN}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends postgresql postgresql-client && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/*/main
COPY postgres-entrypoint.sh /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/local/bin/postgres-entrypoint.sh"]
CMD ["postgres"]
