// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes, dates and durations as the viewer writes them.

import { locale } from "./texts.js";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
const formats = new Map();

/** Formatters are costly to make and cheap to use: one of each for a language. */
function format(kind, options) {
    const key = `${locale()} ${kind} ${JSON.stringify(options)}`;
    if (!formats.has(key)) formats.set(key, new Intl[kind](locale(), options));
    return formats.get(key);
}

export const formatNumber = (number) => format("NumberFormat", {}).format(number);
export const formatShare = (share) => format("NumberFormat", { style: "percent" }).format(share);

/** A size in units of 1,000, with three digits at most where it is no count of bytes. */
export function formatSize(size) {
    let step = 0;
    let value = size;
    while (value >= 999.5 && step < units.length - 1) {
        value /= 1000;
        step += 1;
    }
    const digits = step === 0 || value >= 99.95 ? 0 : 1;
    const unitDisplay = step === 0 ? "long" : "short";
    const options = { style: "unit", unit: units[step], unitDisplay, maximumFractionDigits: digits };
    return format("NumberFormat", options).format(value);
}

/** The time of today, the day and month of this year, the full date else. */
export function formatDate(date, now = new Date()) {
    const isToday = date.toDateString() === now.toDateString();
    if (isToday) return format("DateTimeFormat", { timeStyle: "short" }).format(date);
    const year = date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
    return format("DateTimeFormat", { day: "numeric", month: "short", ...year }).format(date);
}

export const formatMoment = (date) => format("DateTimeFormat", { dateStyle: "long", timeStyle: "medium" }).format(date);

/** How long something will take still, in its largest unit or two. */
export function formatDuration(seconds) {
    const whole = Math.max(Math.ceil(seconds), 1);
    const hours = Math.floor(whole / 3600);
    const parts = [
        ["hour", hours],
        ["minute", Math.floor(whole / 60) % 60],
        ["second", whole % 60],
    ];
    const first = parts.findIndex(([, count]) => count > 0);
    return parts
        .slice(first, first + 2)
        .filter(([, count]) => count > 0)
        .map(([unit, count]) => {
            const options = { style: "unit", unit, unitDisplay: "short" };
            return format("NumberFormat", options).format(count);
        })
        .join(" ");
}
