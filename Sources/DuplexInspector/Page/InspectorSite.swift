// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexWire

/// The inspector's page: markup, styles, and a module for each of its parts, each a text of its own.
enum InspectorSite {
    /// What the page asks for.
    static let assets = [
        PageAsset("theme.css", .css, PageParts.themeStyle),
        PageAsset("inspector.css", .css, style),
        PageAsset("dom.js", .javaScript, PageParts.domScript),
        PageAsset("app.js", .javaScript, appScript),
        PageAsset("api.js", .javaScript, apiScript),
        PageAsset("live.js", .javaScript, liveScript),
        PageAsset("foreign.js", .javaScript, foreignScript),
        PageAsset("format.js", .javaScript, formatScript),
        PageAsset("icons.js", .javaScript, iconsScript),
        PageAsset("notices.js", .javaScript, noticesScript),
        PageAsset("connections.css", .css, connectionsStyle),
        PageAsset("connections.js", .javaScript, connectionsScript),
        PageAsset("connection.js", .javaScript, connectionScript),
        PageAsset("frames.js", .javaScript, framesScript),
        PageAsset("payload.js", .javaScript, payloadScript),
        PageAsset("waterfall.js", .javaScript, waterfallScript),
        PageAsset("requests.js", .javaScript, requestsScript),
        PageAsset("databases.js", .javaScript, databasesScript),
        PageAsset("database-rows.js", .javaScript, databaseRowsScript),
        PageAsset("database-cell.js", .javaScript, databaseCellScript),
        PageAsset("database-sql.js", .javaScript, databaseSQLScript),
        PageAsset("databases.css", .css, databasesStyle),
        PageAsset("files.js", .javaScript, filesScript),
        PageAsset("files-columns.js", .javaScript, fileColumnsScript),
        PageAsset("files.css", .css, filesStyle),
        PageAsset("fields.js", .javaScript, fieldsScript),
        PageAsset("values.css", .css, valuesStyle),
        PageAsset("values.js", .javaScript, valuesScript),
        PageAsset("commands.js", .javaScript, commandsScript),
        PageAsset("answers.js", .javaScript, answersScript),
        PageAsset("views.css", .css, viewsStyle),
        PageAsset("views.js", .javaScript, viewsScript),
        PageAsset("views-stage.js", .javaScript, viewsStageScript),
        PageAsset("views-scene.js", .javaScript, viewsSceneScript),
        PageAsset("views-gl.js", .javaScript, viewsGLScript),
        PageAsset("views-flat.js", .javaScript, viewsFlatScript),
        PageAsset("views-pictures.js", .javaScript, viewsPicturesScript),
        PageAsset("views-tree.js", .javaScript, viewsTreeScript),
        PageAsset("views-details.js", .javaScript, viewsDetailsScript),
        PageAsset("recordings.css", .css, recordingsStyle),
        PageAsset("recordings.js", .javaScript, recordingsScript),
        PageAsset("recording.js", .javaScript, recordingScript),
        PageAsset("replay.js", .javaScript, replayScript),
        PageAsset("icon.svg", .svg, icon),
        PageAsset("ansi.js", .javaScript, ansiScript),
        PageAsset("console.js", .javaScript, consoleScript),
        PageAsset("console-lines.js", .javaScript, consoleLinesScript),
        PageAsset("console.css", .css, consoleStyle),
        PageAsset("charts.js", .javaScript, chartsScript),
        PageAsset("machine.js", .javaScript, machineScript),
        PageAsset("machine.css", .css, machineStyle),
    ]

    /// This origin's files, no inline code, and no text that becomes code.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "media-src 'self'",
        "connect-src 'self'", "frame-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    static func add(to routes: inout RouteGroup) {
        PageSite(html: html, policy: contentSecurityPolicy, assets: assets).add(at: "/", to: &routes)
    }
}
