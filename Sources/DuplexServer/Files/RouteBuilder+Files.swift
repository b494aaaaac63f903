// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import HTTPTypes

// Files of a folder.

extension RouteBuilder {
    /// Answers GET and HEAD with the files below a folder.
    ///
    /// ```swift
    /// server.files("/", folder: "public")
    /// ```
    ///
    /// Each with its media type, `ETag` and `Last-Modified`, conditions (RFC 9110 section 13) and ranges (section 14). A
    /// folder without a slash at its end
    /// is redirected to the one with it.
    ///
    /// Nothing outside of the folder is read, whatever names or links lead there: the kernel sees to that where it can.
    /// Links to places
    /// in the folder are followed on Linux. Names that begin with a dot aren't answered, nor are pipes and devices.
    ///
    /// Clients that take gzip get texts in it: a sibling such as `app.js.gz`, or what the server has compressed and keeps in
    /// memory; see ``FileOptions/compression``.
    ///
    /// A file that is cut short while it is sent cuts the connection; one that is replaced is sent as it was.
    ///
    /// Hazard: pages in the folder are pages of this server, with what browsers let them do here. Who lets strangers put
    /// files there
    /// serves them on a host of their own, or with ``FileOptions/sendsAsAttachments``.
    ///
    /// - Parameters:
    ///   - path: what paths begin with, such as `/assets`; `/` for all.
    ///   - settings: settings of these routes that differ from the server's.
    ///   - folder: the path of the folder; a relative one is below the process's working directory. A server whose folder
    ///     can't be read throws ``RouteError`` when it is to run.
    ///   - options: how the files are served. Default: as in ``FileOptions``.
    public mutating func files(
        _ path: String,
        _ settings: RouteOption...,
        folder: String,
        options: FileOptions = FileOptions()
    ) {
        mountFiles(at: path, settings + [.checking(options.durations)]) { pattern, depth throws(RouteError) in
            do throws(SocketError) {
                return FileResponder(try ConfinedFolder(path: folder), depth: depth, options)
            } catch {
                throw RouteError(code: .noFolder, route: "GET \(pattern)", message: error.description)
            }
        }
    }

    /// Answers GET and HEAD with the files of a folder, by rules that are more than options.
    package mutating func files(
        _ path: String,
        _ settings: [RouteOption],
        folder: ConfinedFolder,
        by rules: any FileRules,
        options: FileOptions
    ) {
        var options = options
        // No cache between may keep them.
        options.isPrivate = true
        mountFiles(at: path, settings + [.checking(options.durations)]) { [options] _, depth in
            FileResponder(folder, depth: depth, options, rules: rules)
        }
    }

    private mutating func mountFiles(
        at path: String,
        _ options: [RouteOption],
        _ make: @escaping @Sendable (_ pattern: String, _ depth: Int) throws(RouteError) -> FileResponder
    ) {
        let below = path.hasSuffix("/") ? path + "*" : path + "/*"
        let source = RouteDefinition.HandlerSource.mounted { pattern throws(RouteError) in
            let depth = pattern.split(separator: "/", omittingEmptySubsequences: false).count - 2
            return try make(pattern, depth).handler
        }
        add(RouteDefinition(path: below, options: options, action: .request(.get, source)))
    }
}
