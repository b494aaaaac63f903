// SPDX-License-Identifier: Apache-2.0
// The stage: a canvas, what moves the camera, and when it is drawn, which is only where something has changed.

import { make } from "./dom.js";
import { visible } from "./foreign.js";
import { t } from "./texts.js";
import { FlatDrawing } from "./views-flat.js";
import { Drawing } from "./views-gl.js";
import { Camera, pick, project } from "./views-scene.js";

/** A colour of the theme as numbers from 0 to 1. */
function themeColour(name) {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
    return [0, 2, 4].map((place) => parseInt(hex.slice(place, place + 2), 16) / 255);
}

export class Stage {
    scene;
    pictures;
    onPick;
    onHover;
    onRate;
    since;

    /** `onPick(index)` and `onHover(index)` get what is pointed at, `onRate(frames)` how many are drawn in a second. */
    constructor({ onPick, onHover, onRate }) {
        Object.assign(this, { onPick, onHover, onRate });
        this.camera = new Camera();
        this.items = [];
        this.marks = {};
        this.canvas = make("canvas", {
            id: "views-canvas",
            tabindex: "0",
            role: "img",
            "aria-label": t("drawingHelp"),
        });
        this.label = make("div", { class: "stage-label", hidden: true });
        this.node = make("div", { class: "stage", id: "views-stage" }, this.canvas, this.label);
        this.drawing = Drawing.make(this.canvas) ?? FlatDrawing.make(this.canvas);
        this.isPlain = this.drawing.kind === "canvas";
        this.canvas.dataset.drawing = this.drawing.kind;
        this.canvas.dataset.renderer = this.drawing.name;
        if (this.isPlain) this.camera.isFlat = true;
        this.theme = matchMedia("(prefers-color-scheme: dark)");
        this.onTheme = () => this.refill();
        this.theme.addEventListener("change", this.onTheme);
        this.resizes = new ResizeObserver(() => this.invalidate());
        this.resizes.observe(this.canvas);
        this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        this.listen();
    }

    // What is shown

    set(scene, items, pictures) {
        Object.assign(this, { scene, items, pictures });
        this.refill();
    }

    refill() {
        if (!this.scene) return;
        this.colours = { paper: themeColour("--page"), accent: themeColour("--accent"), line: themeColour("--edge") };
        this.drawing.set(this.items, this.scene, this.pictures, this.theme.matches);
        this.canvas.dataset.items = this.items.length;
        this.invalidate();
    }

    mark(marks) {
        this.marks = marks;
        this.invalidate();
    }

    get view() {
        const { clientWidth, clientHeight } = this.canvas;
        return this.camera.projection(this.scene, Math.max(1, clientWidth), Math.max(1, clientHeight));
    }

    // When it is drawn

    /** Has it be drawn; `isMoving`: less finely, and finely once it is still again. */
    invalidate(isMoving = false) {
        if (isMoving) this.moved = performance.now();
        if (this.frame === undefined && this.scene) this.frame = requestAnimationFrame((time) => this.tick(time));
    }

    tick(time) {
        this.frame = undefined;
        if (!this.canvas.isConnected) return;
        const passed = time - (this.last ?? time);
        this.last = time;
        if (this.isTurning) {
            // By the time that has passed, so that it turns as fast wherever it is drawn.
            this.camera.turn(Math.min(passed, 100) * 0.0006, 0);
            this.rate(time);
        }
        const isMoving = this.isTurning || performance.now() - (this.moved ?? -1e9) < 200;
        if (isMoving) this.adapt(passed);
        const { view } = this;
        this.drawing.draw(view, this.marks, this.colours, isMoving);
        this.canvas.dataset.quality = this.drawing.quality;
        this.drawLabel(view);
        this.canvas.dataset.frames = Number(this.canvas.dataset.frames ?? 0) + 1;
        if (this.isTurning) this.invalidate();
        else if (isMoving) this.settle();
    }

    /** Draws less finely while it moves and the frames are late. */
    adapt(passed) {
        if (passed <= 0 || passed > 250) return;
        this.pace = (this.pace ?? 16) * 0.85 + passed * 0.15;
        const { drawing } = this;
        if (this.pace > 26 && drawing.quality > 0.5)
            [drawing.quality, this.pace] = [Math.max(0.5, drawing.quality - 0.125), 20];
    }

    /** Draws it once more, finely, once nothing moves any more. */
    settle() {
        clearTimeout(this.settling);
        this.settling = setTimeout(() => {
            this.last = undefined;
            this.invalidate();
        }, 250);
    }

    rate(time) {
        this.since ??= time;
        this.drawn = (this.drawn ?? 0) + 1;
        if (time - this.since < 1000) return;
        this.onRate(Math.round((this.drawn * 1000) / (time - this.since)));
        [this.since, this.drawn] = [time, 0];
    }

    turnAround(isTurning) {
        this.isTurning = isTurning;
        [this.since, this.drawn, this.last] = [undefined, 0, undefined];
        this.invalidate(true);
    }

    /** The class of what is pointed at, beside it. */
    drawLabel(view) {
        const place = this.marks.hovered ?? this.marks.selected;
        const item = place === undefined ? undefined : this.items.find(({ node }) => node.index === place);
        this.label.hidden = item === undefined;
        if (!item) return;
        const [x, y] = project(view, item, item.rect[0], item.rect[1]);
        this.label.textContent = visible(item.node.type);
        this.label.style.insetInlineStart = `${Math.max(4, Math.min(view.width - 80, x))}px`;
        this.label.style.insetBlockStart = `${Math.max(4, Math.min(view.height - 28, y - 24))}px`;
    }

    // What moves it

    listen() {
        const { canvas } = this;
        const pointers = new Map();
        let moved = 0;
        canvas.addEventListener("pointerdown", (event) => {
            pointers.set(event.pointerId, event);
            canvas.setPointerCapture(event.pointerId);
            moved = 0;
        });
        canvas.addEventListener("pointermove", (event) => {
            const before = pointers.get(event.pointerId);
            if (!before) return this.hover(event);
            const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
            moved += Math.abs(dx) + Math.abs(dy);
            if (pointers.size > 1) this.pinch(pointers, event);
            else if (event.shiftKey || event.buttons > 1 || this.camera.isFlat) this.move(dx, dy);
            else this.camera.turn(dx * 0.008, dy * 0.008);
            pointers.set(event.pointerId, event);
            this.invalidate(true);
        });
        canvas.addEventListener("pointerup", (event) => {
            if (pointers.delete(event.pointerId) && moved < 5 && event.button === 0) this.onPick(this.at(event));
        });
        canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
        canvas.addEventListener("pointerleave", () => this.onHover(undefined));
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener(
            "wheel",
            (event) => {
                event.preventDefault();
                const [x, y] = this.fromMiddle(event);
                this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
            },
            { passive: false },
        );
        canvas.addEventListener("keydown", (event) => this.press(event));
    }

    pinch(pointers, event) {
        const others = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
        const [other, before] = [others[0], pointers.get(event.pointerId)];
        const length = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        const [x, y] = this.fromMiddle(event);
        if (length(before) > 0) this.camera.scale(length(event) / length(before), x, y);
        this.move((event.clientX - before.clientX) / 2, (event.clientY - before.clientY) / 2);
    }

    fromMiddle(event) {
        const box = this.canvas.getBoundingClientRect();
        return [event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2];
    }

    at(event) {
        if (!this.scene) return undefined;
        const box = this.canvas.getBoundingClientRect();
        return pick(this.view, this.items, event.clientX - box.x, event.clientY - box.y)?.node.index;
    }

    hover(event) {
        if (event.pointerType === "mouse") this.onHover(this.at(event));
    }

    move(dx, dy) {
        this.camera.pan = [this.camera.pan[0] + dx, this.camera.pan[1] + dy];
    }

    zoom(factor, x = 0, y = 0) {
        this.camera.scale(factor, x, y);
        this.invalidate(true);
    }

    reset() {
        this.camera.reset();
        this.invalidate();
    }

    press(event) {
        const step = 0.08;
        const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        const arrow = arrows[event.key];
        if (arrow && (event.shiftKey || this.camera.isFlat)) this.move(arrow[0] * 24, arrow[1] * 24);
        else if (arrow) this.camera.turn(arrow[0] * step, arrow[1] * step);
        else if (event.key === "+" || event.key === "=") this.camera.scale(1.2);
        else if (event.key === "-") this.camera.scale(1 / 1.2);
        else if (event.key === "0") this.camera.reset();
        else return;
        event.preventDefault();
        this.invalidate(true);
    }

    close() {
        if (this.frame !== undefined) cancelAnimationFrame(this.frame);
        clearTimeout(this.settling);
        this.resizes.disconnect();
        this.theme.removeEventListener("change", this.onTheme);
        this.drawing.close();
    }
}
