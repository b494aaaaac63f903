// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The page of the uploader: markup, styles, and a script of modules, each a text of its own.
///
/// Nothing in it is inline and no name ever becomes markup, so that it runs under a policy that allows this origin's
/// files only. Its addresses are relative: it works wherever it is mounted, under a path that ends in a slash.
enum UploaderPage {
    /// One file of the page, as it goes out.
    struct Asset: Sendable, Equatable {
        /// Its name below `assets/`.
        let name: String

        /// The value of its `Content-Type` field.
        let contentType: MediaType

        /// All of its text, to be sent as UTF-8.
        let body: String

        init(_ name: String, _ contentType: MediaType, _ body: String) {
            self.name = name
            self.contentType = contentType
            self.body = body
        }
    }

    /// The files that the page asks for.
    static let assets = [
        Asset("theme.css", .css, themeStyle),
        Asset("list.css", .css, listStyle),
        Asset("panels.css", .css, panelStyle),
        Asset("icon.svg", .svg, icon),
        Asset("app.js", .javaScript, appScript),
        Asset("actions.js", .javaScript, actionsScript),
        Asset("api.js", .javaScript, apiScript),
        Asset("changes.js", .javaScript, changesScript),
        Asset("crumbs.js", .javaScript, crumbsScript),
        Asset("dialogs.js", .javaScript, dialogsScript),
        Asset("dom.js", .javaScript, domScript),
        Asset("drag.js", .javaScript, dragScript),
        Asset("drops.js", .javaScript, dropsScript),
        Asset("format.js", .javaScript, formatScript),
        Asset("icons.js", .javaScript, iconsScript),
        Asset("intake.js", .javaScript, intakeScript),
        Asset("keys.js", .javaScript, keysScript),
        Asset("list.js", .javaScript, listScript),
        Asset("notices.js", .javaScript, noticesScript),
        Asset("order.js", .javaScript, orderScript),
        Asset("paths.js", .javaScript, pathsScript),
        Asset("picker.js", .javaScript, pickerScript),
        Asset("preview.js", .javaScript, previewScript),
        Asset("rate.js", .javaScript, rateScript),
        Asset("rename.js", .javaScript, renameScript),
        Asset("resumes.js", .javaScript, resumesScript),
        Asset("selection.js", .javaScript, selectionScript),
        Asset("texts-en.js", .javaScript, englishTexts),
        Asset("texts-zh.js", .javaScript, chineseTexts),
        Asset("texts.js", .javaScript, textsScript),
        Asset("tus.js", .javaScript, tusScript),
        Asset("uploads-panel.js", .javaScript, uploadsPanelScript),
        Asset("upload-row.js", .javaScript, uploadRowScript),
        Asset("uploads.js", .javaScript, uploadsScript),
    ]

    /// The value of `Content-Security-Policy`: this origin's files, no inline code, and no text that becomes code.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "media-src 'self'",
        "connect-src 'self'", "frame-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The value of `Content-Security-Policy` for a file that is shown in the page: a document can do nothing at all.
    ///
    /// Browsers show no PDF in a sandbox, so that PDF gets a policy without; what else it may do is up to the reader
    /// that the browser has for it.
    /// - Parameter type: the media type that the file goes out with.
    /// - Returns: the directives, separated by semicolons.
    static func contentSecurityPolicy(ofView type: MediaType) -> String {
        let isPDF = type.rawValue == "application/pdf"
        return isPDF
            ? "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'"
            : "default-src 'none'; frame-ancestors 'self'; sandbox"
    }

    /// The markup with texts in the places of their names.
    ///
    /// - Parameter texts: what stands for `title`, `header`, `prologue`, `epilogue`, `footer`, `logo` (an address),
    ///   `piece` (the bytes that are sent at once) and `parallel` (the uploads at a time). A name without a text
    ///   stands for nothing.
    /// - Returns: the page, with each text escaped and none of them read for names again.
    static func html(_ texts: [String: String]) -> String {
        html.replacing(/{{([a-z]+)}}/) { HTMLEscaping.escaped(texts[String($0.output.1)] ?? "") }
    }
}
