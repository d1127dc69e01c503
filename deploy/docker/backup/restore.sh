#!/bin/sh
# Makes a data directory from a base backup and the archive of WAL: restore.sh [TIME]. Postgres must be stopped. At its next start
# Postgres applies the archive up to TIME (such as '2026-01-31 12:00:00+00'), or to its end.
set -eu
backup="${BACKUP:-/backup}"
time="${1:-}"
until="99999999T999999Z"
if [ -n "$time" ]; then
  until="$(date -u -d "$time" +%Y%m%dT%H%M%SZ)"
fi
if [ -e "$PGDATA/postmaster.pid" ] && kill -0 "$(head -n 1 "$PGDATA/postmaster.pid")" 2>/dev/null; then
  echo "Postgres runs on $PGDATA: stop it first" >&2
  exit 1
fi
# Names sort like the times that they are.
base="$(ls "$backup/base" | awk -v until="$until" '$0 <= until' | sort | tail -n 1)"
if [ -z "$base" ]; then
  echo "no base backup is older than $time: $(ls "$backup/base" | tr '\n' ' ')" >&2
  exit 1
fi
if [ -e "$PGDATA" ] && [ -n "$(ls -A "$PGDATA")" ]; then
  kept="$PGDATA.before-restore-$(date -u +%Y%m%dT%H%M%SZ)"
  mv "$PGDATA" "$kept"
  echo "the former data is kept in $kept"
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
tar -xzf "$backup/base/$base/base.tar.gz" -C "$PGDATA"
mkdir -p "$PGDATA/pg_wal"
# A copy of a restored database has these settings already; the last ones count.
cat >> "$PGDATA/postgresql.auto.conf" <<EOF
restore_command = 'cp "$backup/wal/%f" "%p"'
recovery_target_time = '$time'
recovery_target_action = 'promote'
EOF
touch "$PGDATA/recovery.signal"
echo "restored from $base; start Postgres, then run 'natter migrate' and 'natter after-restore' before anything else"
