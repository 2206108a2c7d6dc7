#!/usr/bin/env bash
# Starts the window on a virtual display, types a prompt, runs it, sees that tokens appear, and quits.
#   tests/app/smoke.sh path/to/fullband [picture.xwd]
set -euo pipefail
program="$1"
for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done

home="$(mktemp -d)"
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$home"
}
trap cleanup EXIT
fail() { echo "smoke test: $1"; cat "$home/log" 2>/dev/null || true; exit 1; }

# Without a display: what was asked for, or one sentence on standard error, and nothing of Qt's.
without_display() { env -u DISPLAY -u XDG_RUNTIME_DIR -u QT_QPA_PLATFORM HOME="$home" "$program" "$@" >"$home/log" 2>&1; }
cp "$(dirname "$0")/../../resources/findings/demo-model/curves.csv" "$home"
without_display --figures "$home" || fail "the figures of a finding could not be drawn"
[ "$(wc -l <"$home/log")" = 1 ] || fail "drawing figures says more than their names"
mkdir -p "$home/run"
echo '{"recipe": ' >"$home/run/run.json"
for action in --report --screenshots; do
  without_display "$action" "$home/out" --run "$home/run" && fail "$action took a run that is cut off"
  [ "$(wc -l <"$home/log")" = 1 ] || fail "$action says more than one sentence"
  grep -q "^fullband: $home/run/run.json: line 2: " "$home/log" || fail "$action does not name the file that is cut off"
done

# The server writes its picture into a file, and the number it found free into another.
exec 5<>"$home/display"
Xvfb -displayfd 5 -screen 0 1440x900x24 -fbdir "$home" -nolisten tcp >/dev/null 2>&1 &
pids+=($!)
for _ in $(seq 100); do [ -s "$home/display" ] && break; sleep 0.1; done
DISPLAY=":$(tr -dc 0-9 <"$home/display")"
export DISPLAY HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_RUNTIME_DIR="$home"
export QT_QPA_PLATFORM=xcb

"$program" --run demo --theme light >"$home/log" 2>&1 &
window_pid=$!
pids+=("$window_pid")
window=""
for _ in $(seq 300); do
  window="$(xdotool search --onlyvisible --name '^Fullband$' 2>/dev/null | head -n 1 || true)"
  [ -n "$window" ] && break
  kill -0 "$window_pid" 2>/dev/null || fail "the program ended before its window came"
  sleep 0.1
done
[ -n "$window" ] || fail "no window appeared"
xdotool windowmove "$window" 0 0 windowfocus --sync "$window"
sleep 1

# Differing bytes between two pictures of the screen.
changed() { cmp -l "$1" "$2" 2>/dev/null | wc -l || true; }

xdotool key ctrl+5
xdotool key alt+p
xdotool type --delay 20 'required = 3
completed = 3
scratch = 1
Status:'
sleep 1
cp "$home/Xvfb_screen0" "$home/before.xwd"
xdotool key ctrl+Return
for _ in $(seq 100); do
  sleep 0.2
  cp "$home/Xvfb_screen0" "$home/after.xwd"
  difference="$(changed "$home/before.xwd" "$home/after.xwd")"
  [ "$difference" -gt 20000 ] && break  # three columns of tokens; a cursor's blink is some tens
done
[ "$difference" -gt 20000 ] || fail "no tokens appeared ($difference bytes of the screen changed)"
[ $# -gt 1 ] && cp "$home/after.xwd" "$2"

xdotool key ctrl+q
for _ in $(seq 100); do kill -0 "$window_pid" 2>/dev/null || break; sleep 0.1; done
kill -0 "$window_pid" 2>/dev/null && fail "the window did not close"
wait "$window_pid" || fail "the program ended with an error"
grep -q 'scratch = 1' "$home/config/fullband/session.json" || fail "the prompt was not kept for the next start"
echo "smoke test: passed"
