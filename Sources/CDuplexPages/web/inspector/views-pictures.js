// SPDX-License-Identifier: Apache-2.0
// Pictures of views, fetched a few at a time, in the order in which they are asked for; the first 400 of a tree.

import { address } from "./server.js";
import { atlasSize } from "./views-gl.js";

const most = 400;
const atOnce = 4;
const longest = 192;

export class Pictures {
    /** `onPicture(bitmap, x, y)` is called with each that is there: the last two say where it lies in the texture. */
    constructor(scene, onPicture) {
        this.scene = scene;
        this.onPicture = onPicture;
        this.forget();
    }

    /** Has all be fetched again. */
    forget() {
        this.known = new Map();
        this.waiting = [];
        this.running = 0;
        // Where the next one goes: pictures lie in rows.
        this.shelf = { x: 0, y: 0, height: 0 };
        this.age = (this.age ?? 0) + 1;
    }

    want(nodes) {
        for (const node of nodes) {
            if (node.picture === 0 || this.known.size >= most) continue;
            const key = `${node.picture} ${node.id}`;
            if (this.known.has(key)) continue;
            this.known.set(key, null);
            this.waiting.push([key, node.id]);
        }
        this.fetchMore();
    }

    fetchMore() {
        while (this.running < atOnce && this.waiting.length > 0) {
            const [key, id] = this.waiting.shift();
            this.running += 1;
            this.fetch(key, id, this.age);
        }
    }

    async fetch(key, id, age) {
        try {
            const answer = await fetch(address("views/picture", { scene: this.scene, id }));
            if (answer.ok && age === this.age) {
                const whole = await createImageBitmap(await answer.blob());
                const factor = Math.min(1, longest / Math.max(whole.width, whole.height));
                const [width, height] = [whole.width, whole.height].map((side) =>
                    Math.max(1, Math.round(side * factor)),
                );
                const bitmap = await createImageBitmap(whole, {
                    resizeWidth: width,
                    resizeHeight: height,
                    resizeQuality: "medium",
                });
                whole.close();
                if (age === this.age) this.take(key, bitmap);
            }
        } catch {
            // A view without its picture is drawn in the colour of its class.
        }
        if (age !== this.age) return;
        this.running -= 1;
        this.fetchMore();
    }

    take(key, bitmap) {
        const { shelf } = this;
        if (shelf.x + bitmap.width + 1 > atlasSize)
            Object.assign(shelf, { x: 0, y: shelf.y + shelf.height + 1, height: 0 });
        if (shelf.y + bitmap.height > atlasSize) return;
        this.known.set(key, { bitmap, x: shelf.x, y: shelf.y });
        this.onPicture(bitmap, shelf.x, shelf.y);
        shelf.x += bitmap.width + 1;
        shelf.height = Math.max(shelf.height, bitmap.height);
    }

    /** How many there are. */
    get count() {
        return [...this.known.values()].filter(Boolean).length;
    }

    found(node) {
        return node.picture === 0 ? null : (this.known.get(`${node.picture} ${node.id}`) ?? null);
    }

    bitmap(node) {
        return this.found(node)?.bitmap;
    }

    /** Which part of the texture the part `rect` of a view shows; `null` without a picture. */
    part(node, rect) {
        const found = this.found(node);
        if (!found) return null;
        const [left, top, right, bottom] = node.rect;
        const { width, height } = found.bitmap;
        const across = (x) => (found.x + 0.5 + ((x - left) / (right - left)) * (width - 1)) / atlasSize;
        const down = (y) => (found.y + 0.5 + ((y - top) / (bottom - top)) * (height - 1)) / atlasSize;
        return [across(rect[0]), down(rect[1]), across(rect[2]), down(rect[3])];
    }
}
