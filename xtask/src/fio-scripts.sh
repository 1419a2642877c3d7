#!/bin/sh
# Runs fio's own test scripts (t/*.py in its source) with fio, then with a link named fio to
# qdepth. Prints a row per script: tests that fio passes, how many of them qdepth passes, and the
# others. Takes half an hour. Usage: fio-scripts.sh QDEPTH FOLDER [SCRIPT...]
# With QDEPTH_FIO_SOURCE=FOLDER, uses that source of fio instead of a download.
set -eu
qdepth=$(realpath "$1")
mkdir -p "$2/bin"
work=$(realpath "$2")
shift 2
source=${QDEPTH_FIO_SOURCE:-$work/fio}
[ -e /usr/include/libaio.h ] || apt-get install -y -qq libaio-dev >/dev/null
[ -d "$source" ] || git clone -q --depth 1 --branch fio-3.42 https://github.com/axboe/fio "$source"
[ -x "$source/fio" ] || (cd "$source" && ./configure >"$work/configure.log" && make -j2 >"$work/make.log" 2>&1)
if [ ! -x "$work/venv/bin/python3" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0
fi
export PATH="$work/venv/bin:$PATH"
ln -sf "$qdepth" "$work/bin/fio"
[ $# -gt 0 ] || set -- run-fio-tests verify verify_state_save strided random_seed numberio_overlap \
    latency_percentiles client_server readonly sprandom sequence log_compression jsonplus2csv_test

# Results of a script with a program, a line for each test.
results() {
    folder="$work/$1/$2"
    rm -rf "$folder"
    mkdir -p "$folder"
    case $1 in
    # The tests from 1003 are the other scripts.
    run-fio-tests) set -- "$@" -r "$source" -a "$folder/art" -s $(seq 1003 1030) ;;
    verify) set -- "$@" -r "$source" -a "$folder/art" ;;
    log_compression) ;;
    jsonplus2csv_test) set -- "$@" -s "$source/tools/fio_jsonplus_clat2csv" ;;
    *) set -- "$@" -a "$folder/art" ;;
    esac
    script=$1 program=$3
    shift 3
    (cd "$folder" && timeout 1800 python3 "$source/t/$script.py" -f "$program" "$@" >log 2>&1) || true
    grep -E '^Test .*(PASSED|FAILED|SKIPPED)' "$folder/log" || true
}

echo '| Script | fio passes | qdepth passes | Not passed |'
echo '|---|---|---|---|'
for script in "$@"; do
    results "$script" fio "$source/fio" >"$work/of-fio"
    results "$script" qdepth "$work/bin/fio" >"$work/of-qdepth"
    # Scripts run their tests in a fixed order.
    paste -d '\t' "$work/of-fio" "$work/of-qdepth" | awk -F '\t' -v script="$script" '
        $1 ~ /PASSED/ { all++; if ($2 ~ /PASSED/) ours++; else { split($1, w, " "); seen[w[2]]++ } }
        END { for (n in seen) not = not " " n (seen[n] > 1 ? " (" seen[n] " times)" : "")
              print "| `" script ".py` | " all + 0 " | " ours + 0 " |" not " |" }'
done
