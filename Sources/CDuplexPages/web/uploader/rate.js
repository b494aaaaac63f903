// SPDX-License-Identifier: Apache-2.0
// How fast bytes go, over the last seconds, so that what is left doesn't jump.

const span = 4000;

export class Rate {
    #samples = [];

    /** Notes how many bytes have gone in all at an instant of milliseconds. */
    note(count, now) {
        const last = this.#samples.at(-1);
        if (last && count < last.count) this.#samples = [];
        this.#samples.push({ count, now });
        while (this.#samples.length > 2 && now - this.#samples[0].now > span) this.#samples.shift();
    }

    reset() {
        this.#samples = [];
    }

    /** Bytes a second, or 0 while too little is known. */
    get value() {
        const first = this.#samples[0];
        const last = this.#samples.at(-1);
        if (!first || last.now - first.now < 300) return 0;
        return ((last.count - first.count) / (last.now - first.now)) * 1000;
    }
}
