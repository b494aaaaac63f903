// SPDX-License-Identifier: Apache-2.0

// What browsers have, and the library of TypeScript 4.8 doesn't know yet.

interface Array<T> {
    findLast(predicate: (value: T) => boolean): T | undefined;
    toSorted(compare?: (one: T, other: T) => number): T[];
}
