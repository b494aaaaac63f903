// SPDX-License-Identifier: Apache-2.0
// Numbers, times and sizes for people.

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A number with its thousands apart. */
export function count(number) {
    return Number(number).toLocaleString("en");
}

/** A number of bytes. */
export function bytes(number) {
    let [value, unit] = [Number(number), 0];
    while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
    return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A duration in seconds. */
export function duration(seconds) {
    if (seconds === null || seconds === undefined) return "–";
    if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
    if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
    if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** The time of day of seconds since 1970, to the millisecond. */
export function clock(seconds) {
    const date = new Date(seconds * 1000);
    const text = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => `${part}`.padStart(2, "0"));
    return `${text.join(":")}.${`${date.getMilliseconds()}`.padStart(3, "0")}`;
}
