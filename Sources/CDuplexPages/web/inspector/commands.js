// SPDX-License-Identifier: Apache-2.0
// Commands, each with its form, messages to the app, and what has run.

import { answerNodes } from "./answers.js";
import { get, post } from "./api.js";
import { arrange, make } from "./dom.js";
import { field } from "./fields.js";
import { foreign, visible } from "./foreign.js";
import { clock, duration } from "./format.js";
import { button } from "./icons.js";
import { watch } from "./live.js";
import { say } from "./notices.js";
import { t } from "./texts.js";

let lastField = 0;

/** The form of one command. */
function commandForm(command, page) {
    const fields = command.arguments.map((argument) => {
        const id = `argument-${++lastField}`;
        const one = field({ ...argument, id, isLong: false });
        const label = make("label", { for: id }, make("span", { text: visible(argument.name) }));
        if (argument.optional) label.append(make("span", { class: "soft", text: ` ${t("optional")}` }));
        return { argument, one, node: make("div", { class: "field" }, label, one.node) };
    });
    const run = make("button", { type: "submit", class: "primary", disabled: !page.allows, text: t("run") });
    run.setAttribute("aria-label", t("runOne", { name: visible(command.name) }));
    const form = make(
        "form",
        { class: "pane command", "data-command": command.name },
        foreign("h3", command.name),
        command.detail ? foreign("p", command.detail, { class: "soft" }) : "",
        ...fields.map(({ node }) => node),
        make("div", { class: "tools" }, run),
    );
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const texts = {};
        for (const { argument, one } of fields) {
            if (one.value !== "" || !argument.optional) texts[argument.name] = one.value;
        }
        page.run("commands/run", { command: command.name, arguments: texts });
    });
    return form;
}

/** Where messages to the app are written. */
function messageForm(page) {
    const text = make("textarea", { id: "message-text", rows: "4", spellcheck: "false", "aria-label": t("message") });
    const send = make("button", { type: "submit", class: "primary", disabled: !page.allows, text: t("send") });
    const form = make(
        "form",
        { class: "pane command" },
        make("h3", { text: t("messageToApp") }),
        make("p", { class: "soft", text: t("messageNote") }),
        text,
        make("div", { class: "tools" }, send),
    );
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        page.run("commands/message", { text: text.value });
    });
    text.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    return form;
}

const kinds = { running: "", done: "good", failed: "bad", stopped: "" };

/** One run: its state, and its answer once that is wanted. */
class Run {
    constructor(page, run, isOpen) {
        this.page = page;
        this.id = run.id;
        this.isOpen = isOpen;
        this.state = make("span", { class: "badge" });
        this.time = make("span", { class: "soft" });
        this.stop = make("button", { type: "button", text: t("stop"), onclick: () => page.stop(this.id) });
        this.stop.setAttribute("aria-label", t("stopRun", { id: `${run.id}` }));
        this.toggle = make("button", { type: "button", class: "quiet", onclick: () => this.open(!this.isOpen) });
        const given = run.arguments.map(([name, text]) => (run.message ? text : `${name}: ${text}`)).join(", ");
        this.answer = make("div", { class: "answer", id: `answer-${run.id}` });
        this.toggle.setAttribute("aria-controls", this.answer.id);
        this.node = make(
            "li",
            { class: "run pane", "data-run": run.id },
            make(
                "div",
                { class: "tools" },
                make("strong", { text: visible(run.command) }),
                foreign("span", given, { class: "given grow" }),
                this.state,
                this.time,
                make("span", { class: "soft", text: clock(run.began) }),
                this.stop,
                this.toggle,
            ),
            this.answer,
        );
        this.update(run);
    }

    update(run) {
        const hasEnded = this.run?.state === "running" && run.state !== "running";
        this.run = run;
        this.state.textContent = run.state;
        this.state.className = `badge ${kinds[run.state]}`.trim();
        this.stop.hidden = run.state !== "running" || !this.page.allows;
        this.toggle.hidden = run.state !== "done";
        this.time.textContent = run.seconds === undefined ? "" : duration(run.seconds);
        if (run.state === "failed") this.answer.replaceChildren(foreign("p", run.error, { class: "fault" }));
        else if (run.state === "stopped")
            this.answer.replaceChildren(make("p", { class: "soft", text: t("wasStopped") }));
        else if (run.state === "running")
            this.answer.replaceChildren(make("progress", { "aria-label": t("isRunning") }));
        else if (!this.isShown) this.open(this.isOpen);
        if (hasEnded) say(`${run.command}: ${run.state}`, run.state === "failed" ? "danger" : "");
    }

    async open(isOpen) {
        this.isOpen = isOpen;
        this.isShown = isOpen;
        this.toggle.textContent = isOpen ? t("hideAnswer") : t("showAnswer");
        this.toggle.setAttribute("aria-expanded", `${isOpen}`);
        this.answer.replaceChildren();
        if (!isOpen) return;
        try {
            const run = await get("commands/run", { id: this.id });
            if (this.isOpen) this.answer.replaceChildren(...answerNodes(run));
        } catch (error) {
            this.answer.replaceChildren(foreign("p", error.message, { class: "fault" }));
        }
    }
}

class CommandsPage {
    constructor(main, allows, list) {
        this.allows = allows;
        this.runs = new Map();
        this.mine = new Set();
        this.forms = make("div", { class: "forms", id: "commands-forms" });
        for (const command of list.commands) this.forms.append(commandForm(command, this));
        if (list.messages) this.forms.append(messageForm(this));
        if (!this.forms.childElementCount) {
            this.forms.append(make("p", { class: "soft", text: t("noCommands") }));
        }
        this.list = make("ol", { class: "runs", id: "commands-runs", "aria-label": t("whatHasRun") });
        this.empty = make("p", { class: "soft", text: t("nothingHasRun") });
        const tools = make("div", { class: "tools" }, make("h3", { class: "grow", text: t("whatHasRun") }));
        if (!allows) tools.prepend(make("span", { class: "badge", text: t("readOnly") }));
        else tools.append(button("trash", { text: t("forget"), label: t("forgetRuns"), onclick: () => this.forget() }));
        main.append(
            make(
                "div",
                { class: "commands-layout" },
                this.forms,
                make("section", { class: "history" }, tools, this.empty, this.list),
            ),
        );
    }

    async run(path, wish) {
        try {
            const { id } = await post(path, wish);
            this.mine.add(id);
            this.runs.get(id)?.open(true);
        } catch (error) {
            say(error.message, "danger");
        }
    }

    async stop(id) {
        try {
            await post("commands/stop", { id });
        } catch (error) {
            say(error.message, "danger");
        }
    }

    async forget() {
        try {
            this.take(await post("commands/forget"));
        } catch (error) {
            say(error.message, "danger");
        }
    }

    take(runs) {
        const ids = new Set(runs.map((run) => run.id));
        for (const id of this.runs.keys()) if (!ids.has(id)) this.runs.delete(id);
        for (const run of runs) {
            if (this.runs.has(run.id)) this.runs.get(run.id).update(run);
            else this.runs.set(run.id, new Run(this, run, this.mine.has(run.id) || run.state === "running"));
        }
        arrange(
            this.list,
            runs.map((run) => this.runs.get(run.id).node),
        );
        this.empty.hidden = runs.length > 0;
    }
}

/** Shows the part. */
export async function open(main, { allows }) {
    const page = new CommandsPage(main, allows.has("commands"), await get("commands"));
    const end = watch("commands", (items) => page.take(items.at(-1)), { onError: (text) => say(text, "danger") });
    return { close: end };
}
