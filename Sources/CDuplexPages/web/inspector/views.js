// SPDX-License-Identifier: Apache-2.0
// The exploded view: a drawing of the app's views in three dimensions, beside their tree and what is known of one of them.

import { get } from "./api.js";
import { keep, make, recall } from "./dom.js";
import { visible } from "./foreign.js";
import { button, changeIcon } from "./icons.js";
import { watch } from "./live.js";
import { say } from "./notices.js";
import { t } from "./texts.js";
import { Details } from "./views-details.js";
import { Pictures } from "./views-pictures.js";
import { Scene } from "./views-scene.js";
import { Stage } from "./views-stage.js";
import { TreeList } from "./views-tree.js";

const defaults = { spacing: 30, hidden: false, clipped: false, pictures: true, isFlat: false };

function checkbox(id, text, isOn, onChange) {
    const input = make("input", { type: "checkbox", id, checked: isOn, onchange: () => onChange(input.checked) });
    return make("label", { class: "check", for: id }, input, make("span", { text }));
}

function slider(id, text, attributes, onInput) {
    const input = make("input", { type: "range", id, ...attributes, oninput: () => onInput(Number(input.value)) });
    return { input, node: make("label", { class: "slide", for: id }, make("span", { text }), input) };
}

class ViewsPage {
    constructor(main, scenes, name) {
        this.name = name;
        this.settings = { ...defaults, ...recall("views", {}) };
        this.range = { from: 0, to: Infinity };
        this.stage = new Stage({
            onPick: (index) => this.select(index),
            onHover: (index) => this.hover(index),
            onRate: (frames) => this.tellRate(frames),
        });
        this.tree = new TreeList({ onSelect: (index) => this.select(index), onHover: (index) => this.hover(index) });
        this.details = new Details(name);
        this.pictures = new Pictures(name, (bitmap, x, y) => this.takePicture(bitmap, x, y));
        this.stage.camera.spacing = this.settings.spacing;
        this.stage.camera.isFlat = this.settings.isFlat || this.stage.isPlain;
        this.notice = make("p", { class: "notice", id: "views-notice", role: "status", hidden: true });
        main.append(
            this.makeTools(scenes),
            this.notice,
            make(
                "div",
                { class: "views-layout" },
                make("div", { class: "views-side" }, this.makeSearch(), this.tree.node),
                this.stage.node,
                this.details.node,
            ),
        );
        if (this.stage.isPlain) {
            this.plain = t("noWebGL");
        }
        this.tell();
        this.follow(true);
    }

    // The tools

    makeTools(scenes) {
        const { settings } = this;
        this.live = button("pause", {
            text: t("freeze"),
            label: undefined,
            id: "views-live",
            onclick: () => this.follow(!this.end),
        });
        this.again = button("again", {
            label: t("lookAgainPictures"),
            id: "views-again",
            onclick: () => this.lookAgain(),
        });
        this.flat = make("button", {
            type: "button",
            id: "views-flat",
            "aria-pressed": `${this.stage.camera.isFlat}`,
            text: t("flat"),
            disabled: this.stage.isPlain,
            onclick: () => this.flatten(!this.stage.camera.isFlat),
        });
        this.turn = make("button", {
            type: "button",
            id: "views-turn",
            "aria-pressed": "false",
            text: t("turn"),
            disabled: this.stage.isPlain,
            onclick: () => this.turnAround(),
        });
        const zooms = [
            ["−", t("zoomOut"), 1 / 1.25],
            ["+", t("zoomIn"), 1.25],
        ].map(([text, label, factor]) =>
            make("button", {
                type: "button",
                text,
                title: label,
                "aria-label": label,
                onclick: () => this.stage.zoom(factor),
            }),
        );
        const reset = make("button", {
            type: "button",
            id: "views-reset",
            text: t("resetCamera"),
            onclick: () => this.stage.reset(),
        });
        const spacing = slider("views-spacing", t("spacing"), { min: 0, max: 100, value: settings.spacing }, (value) =>
            this.change({ spacing: value }),
        );
        this.from = slider("views-from", t("fromLayer"), { min: 0, max: 0, value: 0 }, (value) =>
            this.setRange({ from: value }),
        );
        this.to = slider("views-to", t("toLayer"), { min: 0, max: 0, value: 0 }, (value) =>
            this.setRange({ to: value }),
        );
        const tools = make(
            "div",
            { class: "tools", role: "toolbar", "aria-label": t("drawing") },
            this.live,
            this.again,
            this.flat,
            this.turn,
            ...zooms,
            reset,
            spacing.node,
            this.from.node,
            this.to.node,
            checkbox("views-hidden", t("hiddenViews"), settings.hidden, (hidden) => this.change({ hidden })),
            checkbox("views-clipped", t("clippedViews"), settings.clipped, (clipped) => this.change({ clipped })),
            checkbox("views-pictures", t("pictures"), settings.pictures, (pictures) => this.change({ pictures })),
        );
        if (scenes.length > 1) tools.prepend(this.makeChoice(scenes));
        this.facts = make("span", { class: "soft", id: "views-facts" });
        tools.append(this.facts);
        return tools;
    }

    makeChoice(scenes) {
        const options = scenes.map((name) =>
            make("option", { value: name, text: visible(name), selected: name === this.name }),
        );
        const choice = make("select", { id: "views-scene", "aria-label": t("tree") }, ...options);
        choice.addEventListener("change", () => {
            location.hash = `#views?${new URLSearchParams({ scene: choice.value })}`;
        });
        return choice;
    }

    makeSearch() {
        return make("input", {
            type: "search",
            id: "views-search",
            placeholder: t("findView"),
            "aria-label": t("findViewBy"),
            oninput: (event) => this.search(event.target.value.trim()),
        });
    }

    change(settings) {
        Object.assign(this.settings, settings);
        keep("views", this.settings);
        this.stage.camera.spacing = this.settings.spacing;
        this.arrange();
    }

    setRange(range) {
        Object.assign(this.range, range);
        if (this.range.to === this.scene?.depth) this.range.to = Infinity;
        this.arrange();
    }

    flatten(isFlat) {
        this.stage.camera.isFlat = isFlat;
        this.flat.setAttribute("aria-pressed", `${isFlat}`);
        this.change({ isFlat });
    }

    turnAround() {
        const isTurning = !this.stage.isTurning;
        if (isTurning && this.stage.camera.isFlat) this.flatten(false);
        this.turn.setAttribute("aria-pressed", `${isTurning}`);
        this.stage.turnAround(isTurning);
        if (!isTurning) this.tellFacts("");
    }

    // What comes from the app

    /** Goes on with what the app shows, or stays with what it has shown. */
    follow(isLive) {
        this.end?.();
        this.end = undefined;
        if (isLive) {
            this.end = watch("views", (items) => this.take(items.at(-1)), {
                parameters: { scene: this.name },
                onError: (text) => {
                    this.follow(false);
                    this.fail(text);
                },
            });
        }
        this.details.show(this.scene?.nodes[this.selected], isLive);
        changeIcon(this.live, isLive ? "pause" : "play");
        this.live.querySelector("span").textContent = isLive ? t("freeze") : t("goLive");
    }

    async lookAgain() {
        try {
            const tree = await get("views/tree", { scene: this.name });
            this.pictures.forget();
            this.details.refresh();
            this.take(tree);
        } catch (error) {
            this.fail(error.message);
        }
    }

    fail(text) {
        this.fault = text;
        this.tell();
    }

    take(tree) {
        const selected = this.scene?.nodes[this.selected]?.id;
        this.fault = undefined;
        this.scene = new Scene(tree);
        this.selected = selected === undefined ? undefined : this.scene.place(selected);
        this.hovered = undefined;
        for (const { input } of [this.from, this.to]) input.max = this.scene.depth;
        this.to.input.value = Math.min(this.scene.depth, this.range.to);
        this.tree.set(this.scene);
        this.arrange();
        this.mark();
        this.details.show(this.scene.nodes[this.selected], Boolean(this.end));
        this.tellFacts("");
        this.tell();
    }

    arrange() {
        if (!this.scene) return;
        const items = this.scene.items({ ...this.settings, ...this.range });
        const pictures = this.settings.pictures ? this.pictures : null;
        this.stage.set(this.scene, items, pictures);
        pictures?.want(items.map(({ node }) => node));
    }

    /** Many come at a time, and are drawn together. */
    takePicture(bitmap, x, y) {
        this.stage.drawing.place(bitmap, x, y);
        this.filling ??= requestAnimationFrame(() => {
            this.filling = undefined;
            this.stage.canvas.dataset.pictures = this.pictures.count;
            this.stage.refill();
        });
    }

    search(text) {
        clearTimeout(this.searching);
        this.wanted = text;
        if (!text) return this.tree.find(null);
        this.searching = setTimeout(async () => {
            try {
                const { ids } = await get("views/search", { scene: this.name, text });
                if (this.wanted !== text) return;
                this.tree.find(ids);
                this.tellFacts(t("foundCount", { count: ids.length }));
            } catch (error) {
                say(error.message, "danger");
            }
        }, 150);
    }

    // What is chosen

    select(index) {
        this.selected = index;
        if (index !== undefined) this.tree.reveal(index);
        this.mark();
        this.details.show(this.scene.nodes[index], Boolean(this.end));
    }

    hover(index) {
        if (index === this.hovered) return;
        this.hovered = index;
        this.mark();
    }

    mark() {
        const marks = { selected: this.selected, hovered: this.hovered };
        this.stage.mark(marks);
        this.tree.mark(marks);
    }

    // What is said

    tellRate(frames) {
        this.stage.canvas.dataset.rate = frames;
        this.tellFacts(t("frameRate", { rate: `${frames}`, drawing: this.stage.drawing.kind }));
    }

    tellFacts(more) {
        const { scene } = this;
        const views = scene ? t("viewsInLayers", { count: scene.count, layers: scene.depth + 1 }) : "";
        this.facts.textContent = [views, more].filter(Boolean).join(" · ");
    }

    tell() {
        const parts = [this.fault && visible(this.fault), this.scene?.cut, this.plain].filter(Boolean);
        this.notice.textContent = parts.join(" ");
        this.notice.hidden = parts.length === 0;
    }

    close() {
        this.end?.();
        clearTimeout(this.searching);
        this.stage.close();
        this.tree.close();
        this.details.close();
    }
}

/** Shows the part; `scene` names the tree. */
export async function open(main, { parameters }) {
    const { scenes } = await get("views");
    if (scenes.length === 0) {
        main.append(make("p", { class: "soft", id: "views-none", text: t("noViews") }));
        return { close() {} };
    }
    let page;
    const show = (wanted) => {
        const name = scenes.includes(wanted.get("scene")) ? wanted.get("scene") : scenes[0];
        page = new ViewsPage(main, scenes, name);
    };
    show(parameters);
    return {
        close: () => page.close(),
        change(wanted) {
            page.close();
            main.replaceChildren(main.firstElementChild);
            show(wanted);
        },
    };
}
