#!/bin/sh
# Copies the whole database, and removes copies and WAL that are no longer needed: base-backup.sh [KEEP]. It runs beside Postgres, as its user.
set -eu
backup="${BACKUP:-/backup}"
keep="${1:-7}"
unfinished="$backup/base/.unfinished"
rm -rf "$unfinished"
# It waits until the WAL of the copy is in the archive.
pg_basebackup --username="${POSTGRES_USER:-natter}" --pgdata="$unfinished" --format=tar --gzip \
  --wal-method=none --checkpoint=fast --no-password
sync
# The database can be restored to any time after the end of the copy, which is its name.
name="$(date -u +%Y%m%dT%H%M%SZ)"
mv "$unfinished" "$backup/base/$name"
ls "$backup/base" | sort | head -n "-$keep" | while read -r old; do
  rm -rf "${backup:?}/base/$old"
done
oldest="$(ls "$backup/base" | sort | head -n 1)"
first="$(tar -xzOf "$backup/base/$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION:.*(file \([0-9A-F]*\))$/\1/p')"
pg_archivecleanup "$backup/wal" "$first"
echo "$backup/base/$name"
