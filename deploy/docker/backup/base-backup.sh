#!/bin/sh
# base-backup.sh [KEEP] copies the whole database, and removes copies and WAL that are no longer needed. It runs beside Postgres,
# as its user.
set -eu
backup="${BACKUP:-/backup}"
keep="${1:-7}"
unfinished="$backup/base/.unfinished"
[ "$keep" -ge 1 ] || {
  echo "KEEP must be a number above 0, not $keep" >&2
  exit 1
}
exec 9<"$backup/base"
flock -n 9 || {
  echo "another base backup runs" >&2
  exit 1
}
trap 'rm -rf "$unfinished"' EXIT
trap 'exit 1' HUP INT TERM
prune() {
  ls "$backup/base" | sort | head -n "-$keep" | while read -r old; do
    rm -rf "${backup:?}/base/$old"
  done
}
rm -rf "$unfinished"
# Before the copy as well: a smaller KEEP makes room for it.
prune
# It waits until the WAL of the copy is in the archive.
pg_basebackup --username="${POSTGRES_USER:-natter}" --pgdata="$unfinished" --format=tar --gzip \
  --wal-method=none --checkpoint=fast --no-password
sync
# The database can be restored to any time after the end of the copy, which is its name.
name="$(date -u +%Y%m%dT%H%M%SZ)"
mv -T "$unfinished" "$backup/base/$name"
prune
labels="$(for base in "$backup"/base/*; do tar -xzOf "$base/base.tar.gz" --occurrence=1 backup_label; done)"
# pg_archivecleanup compares names of WAL without the timeline, which is their first eight characters. The oldest copy may begin
# later than another: a restore takes the database back.
first="$(echo "$labels" | sed -n 's/^START WAL LOCATION:.*(file \([0-9A-F]*\))$/\1/p' | sort -k 1.9 | head -n 1)"
pg_archivecleanup "$backup/wal" "$first"
echo "$backup/base/$name"
