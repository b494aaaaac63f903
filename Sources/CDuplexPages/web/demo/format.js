// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes and times for people.

// Numbers and their units stay on one line: \u00a0 is a space that does not break.
export function formatDuration(milliseconds) {
    const digits = milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
    return `${milliseconds.toFixed(digits)}\u00a0ms`;
}

export function formatSize(bytes) {
    if (bytes < 1024) return `${bytes}\u00a0B`;
    if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}\u00a0KiB`;
    return `${(bytes / 1024 / 1024).toFixed(1)}\u00a0MiB`;
}

export function formatTime(date) {
    const pad = (number, width) => String(number).padStart(width, "0");
    const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2)).join(":");
    return `${clock}.${pad(date.getMilliseconds(), 3)}`;
}

export function formatHex(bytes, limit) {
    const pairs = Array.from(bytes.subarray(0, limit), (byte) => byte.toString(16).padStart(2, "0"));
    return pairs.join(" ") + (bytes.length > limit ? " …" : "");
}
