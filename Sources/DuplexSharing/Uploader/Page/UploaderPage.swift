// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The page of the uploader: markup, styles, and a script of modules, each a text of its own.
///
/// Nothing in it is inline and no name ever becomes markup, so that it runs under a policy that allows this origin's
/// files only. Its addresses are relative: it works wherever it is mounted, under a path that ends in a slash.
enum UploaderPage {
    /// The files that the page asks for.
    static let assets: [PageAsset] = [
        PageAsset("theme.css", .css, PageParts.themeStyle),
        PageAsset("list.css", .css, listStyle),
        PageAsset("panels.css", .css, panelStyle),
        PageAsset("icon.svg", .svg, icon),
        PageAsset("app.js", .javaScript, appScript),
        PageAsset("actions.js", .javaScript, actionsScript),
        PageAsset("api.js", .javaScript, apiScript),
        PageAsset("changes.js", .javaScript, changesScript),
        PageAsset("crumbs.js", .javaScript, crumbsScript),
        PageAsset("dialogs.js", .javaScript, dialogsScript),
        PageAsset("dom.js", .javaScript, PageParts.domScript),
        PageAsset("drag.js", .javaScript, dragScript),
        PageAsset("drops.js", .javaScript, dropsScript),
        PageAsset("format.js", .javaScript, formatScript),
        PageAsset("icons.js", .javaScript, iconsScript),
        PageAsset("intake.js", .javaScript, intakeScript),
        PageAsset("keys.js", .javaScript, keysScript),
        PageAsset("list.js", .javaScript, listScript),
        PageAsset("notices.js", .javaScript, noticesScript),
        PageAsset("order.js", .javaScript, orderScript),
        PageAsset("paths.js", .javaScript, pathsScript),
        PageAsset("picker.js", .javaScript, pickerScript),
        PageAsset("preview.js", .javaScript, previewScript),
        PageAsset("rate.js", .javaScript, rateScript),
        PageAsset("rename.js", .javaScript, renameScript),
        PageAsset("resumes.js", .javaScript, resumesScript),
        PageAsset("selection.js", .javaScript, selectionScript),
        PageAsset("texts-en.js", .javaScript, englishTexts),
        PageAsset("texts-zh.js", .javaScript, chineseTexts),
        PageAsset("texts.js", .javaScript, textsScript),
        PageAsset("tus.js", .javaScript, tusScript),
        PageAsset("uploads-panel.js", .javaScript, uploadsPanelScript),
        PageAsset("upload-row.js", .javaScript, uploadRowScript),
        PageAsset("uploads.js", .javaScript, uploadsScript),
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

    /// The page as the app wants it shown.
    static func site(_ options: UploaderOptions) -> PageSite {
        let texts = [
            "title": options.title, "header": options.header, "prologue": options.prologue,
            "epilogue": options.epilogue, "footer": options.footer, "logo": options.logo,
            "piece": "\(max(1, options.pieceSize.bytes))", "parallel": "\(max(1, options.parallelUploads))",
        ]
        return PageSite(html: html(texts), policy: contentSecurityPolicy, assets: assets)
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
