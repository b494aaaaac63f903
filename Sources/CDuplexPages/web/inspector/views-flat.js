// SPDX-License-Identifier: Apache-2.0
// Draws views on a plain canvas, in two dimensions, where the browser has no WebGL.

import { colour, project } from "./views-scene.js";

const css = ([red, green, blue], alpha = 1) => `rgb(${red * 255} ${green * 255} ${blue * 255} / ${alpha})`;

export class FlatDrawing {
    /** Not set: this drawing has one quality, and that of views-gl.js several. */
    quality;

    static make(canvas) {
        const context = canvas.getContext("2d");
        return context ? new FlatDrawing(canvas, context) : null;
    }

    constructor(canvas, context) {
        this.canvas = canvas;
        this.context = context;
        this.kind = "canvas";
        this.name = "no WebGL";
        this.items = [];
        this.bitmaps = new Map();
    }

    set(items, _scene, pictures, isDark) {
        // As the app paints them.
        this.items = [...items].sort((one, other) => one.order - other.order);
        this.pictures = pictures;
        this.isDark = isDark;
    }

    place() {
        // Pictures are drawn from their bitmaps.
    }

    draw(view, marks, colours) {
        const { canvas, context } = this;
        const ratio = Math.min(2, devicePixelRatio);
        const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
        if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.fillStyle = css(colours.paper);
        context.fillRect(0, 0, view.width, view.height);
        for (const item of this.items) this.drawItem(view, item, marks, colours);
    }

    drawItem(view, item, marks, colours) {
        const { context } = this;
        const { node, rect } = item;
        const [x, y] = project(view, item, rect[0], rect[1]);
        const [x1, y1] = project(view, item, rect[2], rect[3]);
        const mark = node.index === marks.selected ? 2 : node.index === marks.hovered ? 1 : 0;
        context.globalAlpha = Math.max(0.15, node.opacity);
        context.setLineDash(node.isOff ? [4, 4] : []);
        const bitmap = this.pictures?.bitmap(node);
        if (bitmap) {
            const [left, top, right, bottom] = node.rect;
            const [across, down] = [bitmap.width / (right - left), bitmap.height / (bottom - top)];
            context.drawImage(
                bitmap,
                (rect[0] - left) * across,
                (rect[1] - top) * down,
                (rect[2] - rect[0]) * across,
                (rect[3] - rect[1]) * down,
                x,
                y,
                x1 - x,
                y1 - y,
            );
        } else if (!node.isOff) {
            context.fillStyle = css(colour(node.type, this.isDark));
            context.fillRect(x, y, x1 - x, y1 - y);
        }
        context.globalAlpha = 1;
        context.lineWidth = mark ? 3 : 1;
        context.strokeStyle = css(mark ? colours.accent : colours.line);
        context.strokeRect(x, y, x1 - x, y1 - y);
    }

    close() {
        this.items = [];
    }
}
