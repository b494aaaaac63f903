# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
#
# Sourced by .ci/run, scripts/lint and scripts/test: they note what their parts take in the file that DUPLEX_TIMES names, and
# .ci/run prints the table. Each line of the file has the seconds, the seconds of CPU, and what took them.

# count_cpu FILE: puts the seconds of CPU of the children that have ended in the variable cpu: a subshell has no children of its own.
count_cpu() {
    times >"$1"
    cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4 }' "$1")
    rm -f "$1"
}

# timed LABEL COMMAND [ARGUMENT …]: runs it, and notes what it took.
timed() {
    local label=$1 status=0 began=$SECONDS cpu cpu_before file
    shift
    if [ -z "${DUPLEX_TIMES:-}" ]; then
        "$@"
        return
    fi
    # Several may count at the same time.
    file=$DUPLEX_TIMES.${label//[^a-zA-Z]/-}
    count_cpu "$file"
    cpu_before=$cpu
    "$@" || status=$?
    count_cpu "$file"
    awk -v wall=$((SECONDS - began)) -v from="$cpu_before" -v to="$cpu" -v label="$label" \
        'BEGIN { printf "%d\t%d\t%s\n", wall, to - from, label }' >>"$DUPLEX_TIMES"
    return $status
}

# print_times SECONDS: the table. Parts that run at the same time take longer together than the whole.
print_times() {
    echo "Where the time went, in seconds:"
    awk -F '\t' -v all="$1" 'BEGIN { printf "%8s %8s\n", "seconds", "CPU" }
        { printf "%8d %8d  %s\n", $1, $2, $3; cpu += $2 }
        END { printf "%8d %8d  all\n", all, cpu }' "$DUPLEX_TIMES"
}
