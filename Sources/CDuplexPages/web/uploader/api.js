// SPDX-License-Identifier: Apache-2.0
// The requests of the page.

import { Server } from "./server.js";
import { t } from "./texts.js";

export const server = new Server({
    unreachable: () => t("unreachable"),
    refused: (status) => t("refused", { status }),
});

export const api = {
    list: (path, signal) => server.get("list", { path }, signal),
    search: (path, text, signal) => server.get("search", { path, text }, signal),
    trash: (signal) => server.get("trash", {}, signal),
    create: (path) => server.post("create", { path }),
    rename: (path, name) => server.post("rename", { path, name }),
    move: (from, to, clash) => server.post("move", { from, to, clash }),
    copy: (from, to, clash) => server.post("copy", { from, to, clash }),
    delete: (paths) => server.post("delete", { paths }),
    deleteForever: (paths) => server.post("delete", { paths, forever: true }),
    restore: (ids) => server.post("restore", { ids }),
    empty: () => server.post("empty"),
};
