#!/bin/sh
# Makes a data directory from a base backup and the archive of WAL: restore.sh [TIME [TIMELINE]]. Postgres must be stopped. At its
# next start Postgres applies the archive up to TIME (such as '2026-01-31 12:00:00+00'), or to its end. Each restore begins a
# timeline. Without TIMELINE, the archive is applied on the timeline that the database was on at TIME.
set -eu
backup="${BACKUP:-/backup}"
time="${1:-}"
timeline="${2:-}"
until="99999999T999999Z"
if [ -n "$time" ]; then
  until="$(date -u -d "$time" +%Y%m%dT%H%M%SZ)"
fi

# Postgres accepts connections (0) or rejects them (1). The number in postmaster.pid may be of another container: here it is
# another process, or this one.
answer=0
pg_isready -q -h "${PGHOST:-postgres}" || answer=$?
pid="$(head -n 1 "$PGDATA/postmaster.pid" 2>/dev/null || true)"
if [ "$answer" -le 1 ] || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = postgres ]; then
  echo "Postgres runs on $PGDATA: stop it first" >&2
  exit 1
fi

# Names sort like the times that they are.
bases="$(ls "$backup/base" | awk -v until="$until" '$0 <= until' | sort -r)"
if [ -z "$bases" ]; then
  echo "no base backup is older than $time: $(ls "$backup/base" | tr '\n' ' ')" >&2
  exit 1
fi
# The timeline and the end of a base backup, such as `1 0/2000100`.
place_of() {
  sed -n 's/.*"Timeline": \([0-9]*\),.*"End-LSN": "\([0-9A-F/]*\)".*/\1 \2/p' "$backup/base/$1/backup_manifest"
}
# Postgres archives the history of a timeline when it begins the timeline. `newest_timeline [CONDITION]` reads the histories that
# `find` selects.
newest_timeline() {
  {
    place_of "$(echo "$bases" | head -n 1)" | cut -d ' ' -f 1
    find "$backup/wal" -name '????????.history' "$@" -printf '0x%f\n' | sed 's/\.history$//' | xargs -r printf '%d\n'
  } | sort -n | tail -n 1
}
timeline="${timeline:-$(newest_timeline ${time:+! -newermt "$time"})}"
# Each line of a history is an earlier timeline, the position at which the database left it, and the reason.
history="$backup/wal/$(printf %08X "$timeline").history"
position() { echo $(((0x${1%/*} << 32) + 0x${1#*/})); }
# Whether the database was at the position $2 of the timeline $1 before it was on $timeline.
is_before() {
  left="$(awk -v timeline="$1" '$1 == timeline { print $2 }' "$history" 2>/dev/null)"
  [ -n "$left" ] && [ "$(position "$2")" -le "$(position "$left")" ]
}
base=""
for candidate in $bases; do
  set -- $(place_of "$candidate")
  if [ "$1" = "$timeline" ] || is_before "$1" "$2"; then
    base="$candidate"
    break
  fi
done
if [ -z "$base" ]; then
  echo "no base backup before ${time:-now} belongs to timeline $timeline: $(ls "$backup/base" | tr '\n' ' ')" >&2
  exit 1
fi

if [ -e "$PGDATA" ] && [ -n "$(ls -A "$PGDATA")" ]; then
  kept="$PGDATA.before-restore-$(date -u +%Y%m%dT%H%M%SZ)"
  mv -T "$PGDATA" "$kept"
  echo "the former data is kept in $kept"
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
tar -xzf "$backup/base/$base/base.tar.gz" -C "$PGDATA"
mkdir -p "$PGDATA/pg_wal"
# Without a history, the copy is of the timeline itself.
follow="$timeline"
[ -e "$history" ] || follow=current
# A copy of a restored database has these settings already; the last ones count.
cat >>"$PGDATA/postgresql.auto.conf" <<END
restore_command = 'cp "$backup/wal/%f" "%p"'
recovery_target_time = '$time'
recovery_target_timeline = '$follow'
recovery_target_action = 'promote'
END
touch "$PGDATA/recovery.signal"
# Numbers of the realms on a timeline are a million above those on the timeline before it.
margin="$(($(newest_timeline) - timeline + 1))000000"
echo "restored from $base, on timeline $timeline; start Postgres, then run 'natter migrate' and 'natter after-restore --margin $margin' before anything else"
