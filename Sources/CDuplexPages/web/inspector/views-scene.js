// SPDX-License-Identifier: Apache-2.0
// A tree of views: where each is, what of it is to be drawn, how it is projected, and what lies below the pointer.
//
// x goes to the right, y down, z towards the viewer. Views lie on planes, one for each depth of the tree; in two dimensions
// each lies above those in front of it in the tree, as the app paints them.

const noClip = [-1e9, -1e9, 1e9, 1e9];

function cross(one, other) {
    return [
        Math.max(one[0], other[0]),
        Math.max(one[1], other[1]),
        Math.min(one[2], other[2]),
        Math.min(one[3], other[3]),
    ];
}

export class Scene {
    /** @param tree what the app gave: `{ types, ids, nodes: [[type, parent, x, y, width, height, flags, alpha, picture]] }` */
    constructor(tree) {
        this.ids = tree.ids;
        this.count = tree.nodes.length;
        this.cut = tree.cut;
        this.places = new Map(tree.ids.map((id, index) => [id, index]));
        this.nodes = [];
        this.depth = 0;
        this.bounds = [Infinity, Infinity, -Infinity, -Infinity];
        for (const [index, node] of tree.nodes.entries()) this.add(index, node, tree.types);
        if (!(this.bounds[2] > this.bounds[0])) this.bounds = [0, 0, 1, 1];
    }

    add(index, [type, parent, x, y, width, height, flags, alpha, picture], types) {
        const above = this.nodes[parent];
        const left = x + (above?.rect[0] ?? 0);
        const top = y + (above?.rect[1] ?? 0);
        const rect = [left, top, left + width, top + height];
        const clip = !above ? noClip : above.clips ? cross(above.clip, above.rect) : above.clip;
        const node = {
            index,
            parent,
            rect,
            clip,
            picture,
            type: types[type],
            id: this.ids[index],
            local: [x, y, width, height],
            depth: above ? above.depth + 1 : 0,
            isHidden: (flags & 1) !== 0,
            clips: (flags & 2) !== 0,
            alpha,
            isOff: (flags & 1) !== 0 || (above?.isOff ?? false),
            opacity: alpha * (above?.opacity ?? 1),
            children: [],
        };
        above?.children.push(index);
        this.nodes.push(node);
        this.depth = Math.max(this.depth, node.depth);
        if (width > 0 && height > 0) {
            const seen = cross(rect, clip);
            if (seen[2] > seen[0] && seen[3] > seen[1]) {
                const all = this.bounds;
                this.bounds = [
                    Math.min(all[0], seen[0]),
                    Math.min(all[1], seen[1]),
                    Math.max(all[2], seen[2]),
                    Math.max(all[3], seen[3]),
                ];
            }
        }
    }

    /** The place of a view; undefined where the tree hasn't got it. */
    place(id) {
        return this.places.get(id);
    }

    /**
     * What is to be drawn, the frontmost layer first.
     *
     * @param settings `from` and `to`, the layers; `hidden` and `clipped`, whether these are shown
     */
    items({ from, to, hidden, clipped }) {
        const middle = (Math.max(0, from) + Math.min(this.depth, to)) / 2;
        const items = [];
        for (const node of this.nodes) {
            if (node.depth < from || node.depth > to || (node.isOff && !hidden)) continue;
            const rect = clipped ? node.rect : cross(node.rect, node.clip);
            if (!(rect[2] > rect[0] && rect[3] > rect[1])) continue;
            items.push({ node, rect, layer: node.depth - middle, order: node.index });
        }
        // Of one layer, those that the app paints later lie a little in front.
        const step = 0.2 / Math.max(1, this.count);
        for (const item of items) item.layer += item.order * step;
        return items.sort((one, other) => other.layer - one.layer);
    }
}

/** From where the views are seen. */
export class Camera {
    constructor() {
        this.isFlat = false;
        this.spacing = 30;
        this.reset();
    }

    reset() {
        this.yaw = 0.6;
        this.pitch = 0.3;
        this.zoom = 1;
        this.pan = [0, 0];
    }

    turn(yaw, pitch) {
        if (this.isFlat) return;
        this.yaw = (this.yaw + yaw) % (2 * Math.PI);
        this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    }

    /** Zooms so that what is at the point, from the middle of the stage, stays there. */
    scale(factor, x = 0, y = 0) {
        const zoom = Math.max(0.05, Math.min(60, this.zoom * factor));
        const real = zoom / this.zoom;
        this.pan = [x - (x - this.pan[0]) * real, y - (y - this.pan[1]) * real];
        this.zoom = zoom;
    }

    /**
     * How the scene comes onto a stage of that size: rows of what turns a point, and what scales it.
     *
     * The point x, y, z becomes xr, yr, zr = (a·x + b·y + c·z); on the stage it is at `origin + (xr, yr) · scale / w` with
     * w = 1 - k · zr.
     */
    projection(scene, width, height) {
        const [x0, y0, x1, y1] = scene.bounds;
        const size = Math.max(x1 - x0, y1 - y0, 1);
        const gap = this.isFlat ? 0 : (this.spacing / 100) * 0.3 * size;
        const [yaw, pitch] = this.isFlat ? [0, 0] : [this.yaw, this.pitch];
        const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
        const radius = Math.hypot(x1 - x0, y1 - y0, (scene.depth + 1) * gap) / 2 + 1;
        const fit = Math.min(width / (x1 - x0), height / (y1 - y0)) * (this.isFlat ? 0.94 : 0.7);
        return {
            rows: [cy, 0, sy, sy * sp, cp, -cy * sp, -sy * cp, sp, cy * cp],
            k: this.isFlat ? 0 : 1 / (4 * radius),
            scale: fit * this.zoom,
            origin: [width / 2 + this.pan[0], height / 2 + this.pan[1]],
            centre: [(x0 + x1) / 2, (y0 + y1) / 2],
            gap,
            radius,
            isFlat: this.isFlat,
            width,
            height,
            count: Math.max(1, scene.count),
        };
    }
}

const depthOf = (item, view) => (view.isFlat ? 0 : item.layer * view.gap);

/** Where a point of an item is on the stage. */
export function project(view, item, x, y) {
    const [a1, b1, c1, a2, b2, c2, a3, b3, c3] = view.rows;
    const [px, py, z] = [x - view.centre[0], y - view.centre[1], depthOf(item, view)];
    const w = 1 - view.k * (a3 * px + b3 * py + c3 * z);
    return [
        view.origin[0] + ((a1 * px + b1 * py + c1 * z) * view.scale) / w,
        view.origin[1] + ((a2 * px + b2 * py + c2 * z) * view.scale) / w,
    ];
}

/** The item in front at a point of the stage; undefined where there is none. */
export function pick(view, items, sx, sy) {
    const [a1, b1, c1, a2, b2, c2, a3, b3, c3] = view.rows;
    const u = (sx - view.origin[0]) / view.scale;
    const v = (sy - view.origin[1]) / view.scale;
    // What a ray through that point has in common with the plane of an item: two lines in x and y.
    const [p, q, r, s] = [a1 + u * view.k * a3, b1 + u * view.k * b3, a2 + v * view.k * a3, b2 + v * view.k * b3];
    const determinant = p * s - q * r;
    if (Math.abs(determinant) < 1e-9) return undefined;
    let found;
    let nearest = -Infinity;
    for (const item of items) {
        const z = depthOf(item, view);
        const m = u - u * view.k * c3 * z - c1 * z;
        const n = v - v * view.k * c3 * z - c2 * z;
        const [x, y] = [(m * s - q * n) / determinant, (p * n - m * r) / determinant];
        const [px, py] = [x + view.centre[0], y + view.centre[1]];
        const [x0, y0, x1, y1] = item.rect;
        if (px < x0 || px > x1 || py < y0 || py > y1) continue;
        const distance = view.isFlat ? item.order : a3 * x + b3 * y + c3 * z;
        if (distance > nearest) [nearest, found] = [distance, item];
    }
    return found;
}

/**
 * The colour of a class, as red, green and blue from 0 to 1.
 *
 * @returns {[number, number, number]}
 */
export function colour(type, isDark) {
    let hash = 7;
    for (const character of type) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    const [hue, saturation, lightness] = [(hash % 360) / 60, 0.45, isDark ? 0.3 : 0.84];
    const chroma = (1 - Math.abs(2 * lightness - 1)) * saturation;
    const channel = (shift) => {
        const k = (shift + hue * 2) % 12;
        return lightness - (chroma / 2) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    };
    return [channel(0), channel(8), channel(4)];
}
