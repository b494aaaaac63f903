// SPDX-License-Identifier: Apache-2.0
// The view that is chosen: its picture, its place, its properties.

import { get } from "./api.js";
import { make } from "./dom.js";
import { foreign, visible } from "./foreign.js";
import { watch } from "./live.js";
import { address } from "./server.js";
import { t } from "./texts.js";

const number = (value) => `${Math.round(value * 100) / 100}`;
const frame = ([x, y, width, height]) => `${number(x)}, ${number(y)} · ${number(width)} × ${number(height)}`;

export class Details {
    constructor(scene) {
        this.scene = scene;
        this.turn = 0;
        this.node = make("section", {
            class: "details",
            id: "views-details",
            "aria-label": t("chosenView"),
            tabindex: "0",
        });
        this.show(undefined);
    }

    /** Shows a view, and its properties as they change or as they were; undefined for none. */
    show(node, isLive) {
        if (!node) {
            this.close();
            this.key = undefined;
            this.node.replaceChildren(make("p", { class: "soft", text: t("chooseView") }));
            return;
        }
        const key = `${node.id} ${node.picture}`;
        if (key !== this.key) {
            this.close();
            this.key = key;
            this.head = make("div", {});
            this.list = make("dl", { class: "facts", id: "views-properties" });
            this.picture = this.makePicture(node);
            this.node.replaceChildren(foreign("h3", node.type), this.head, this.picture, this.list);
        }
        this.head.replaceChildren(this.facts(node));
        if (isLive) this.follow(node.id);
        else this.load(node.id);
    }

    facts(node) {
        const [x0, y0, x1, y1] = node.rect;
        const rows = [
            [t("identity"), node.id],
            [t("viewFrame"), frame(node.local)],
            [t("inRoot"), frame([x0, y0, x1 - x0, y1 - y0])],
            [t("layer"), `${node.depth}`],
        ];
        if (node.isHidden) rows.push([t("hidden"), t("yes")]);
        else if (node.isOff) rows.push([t("hidden"), t("hiddenWithin")]);
        if (node.clips) rows.push([t("clips"), t("yes")]);
        if (node.alpha !== 1) rows.push([t("opaque"), `${Math.round(node.alpha * 100)} %`]);
        return make(
            "dl",
            { class: "facts" },
            ...rows.flatMap(([name, value]) => [make("dt", { text: name }), foreign("dd", value)]),
        );
    }

    makePicture(node) {
        if (node.picture === 0) return make("p", { class: "soft", text: t("noPicture") });
        // The last part only has the browser ask again.
        const source = address("views/picture", {
            scene: this.scene,
            id: node.id,
            again: `${node.picture}.${this.age ?? 0}`,
        });
        const image = make("img", {
            class: "view-picture",
            src: source,
            alt: t("pictureOf", { type: visible(node.type) }),
        });
        image.addEventListener("error", () => image.replaceWith(make("p", { class: "soft", text: t("noPictureNow") })));
        return image;
    }

    /** Has pictures be fetched again. */
    refresh() {
        this.age = (this.age ?? 0) + 1;
        this.key = undefined;
    }

    fill(properties) {
        this.list.replaceChildren(
            ...properties.flatMap(([name, value]) => [foreign("dt", name), foreign("dd", value)]),
        );
    }

    follow(id) {
        if (this.watched === id) return;
        this.close();
        this.watched = id;
        this.end = watch("views-node", (items) => this.fill(items.at(-1)?.properties ?? []), {
            parameters: { scene: this.scene, id },
            onError: (text) => this.fill([[t("properties"), text]]),
        });
    }

    async load(id) {
        this.close();
        const { turn } = this;
        try {
            const { properties } = await get("views/node", { scene: this.scene, id });
            if (turn === this.turn) this.fill(properties);
        } catch (error) {
            if (turn === this.turn) this.fill([[t("properties"), error.message]]);
        }
    }

    /** Asks for nothing any more. */
    close() {
        this.turn += 1;
        this.end?.();
        this.end = undefined;
        this.watched = undefined;
    }
}
