// SPDX-License-Identifier: Apache-2.0
// Paths inside the shared folder: "" is its root, "a/b" what is below, without slashes at the ends.

export const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
export const parentOf = (path) => path.slice(0, Math.max(path.lastIndexOf("/"), 0));
export const join = (folder, name) => (folder === "" ? name : `${folder}/${name}`);
export const isWithin = (path, folder) => path === folder || folder === "" || path.startsWith(`${folder}/`);

/** The name without its extension, the part that is changed most often. */
export function stemLength(name) {
    const dot = name.lastIndexOf(".");
    return dot > 0 ? dot : name.length;
}

/** The fragment that shows a folder: `#/a/b`, each name encoded. */
export const fragmentOf = (path) => `#/${path.split("/").map(encodeURIComponent).join("/")}`;

/** The view that the address asks for: the trash, or a folder by its fragment or by `?path=`. */
export function viewOf({ hash, search }) {
    if (hash === "#trash") return { kind: "trash", path: "" };
    const path = hash.startsWith("#/")
        ? hash.slice(2).split("/").map(decode).join("/")
        : (new URLSearchParams(search).get("path") ?? "");
    return { kind: "folder", path: clean(path) };
}

const clean = (path) =>
    path
        .split("/")
        .filter((name) => name !== "")
        .join("/");

function decode(name) {
    try {
        return decodeURIComponent(name);
    } catch {
        return name;
    }
}
