#!/bin/sh
# The archive_command of Postgres, with %p and %f: copies a WAL file to the archive. It never replaces a file by another content.
set -eu
archive="${BACKUP:-/backup}/wal"
target="$archive/$2"
# Postgres archives a file again if it stopped before it knew that the file was archived.
if [ -e "$target" ]; then
  exec cmp -s "$1" "$target"
fi
cp "$1" "$target.part"
sync "$target.part"
mv "$target.part" "$target"
sync "$archive"
