// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import HTTPTypes

// Files of a folder.

extension RouteBuilder {
    /// Answers GET and HEAD with the files below a folder.
    ///
    /// ```swift
    /// server.files("/", from: "public")
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
    /// serves them on a host of their own, or with ``FileOptions/attaches``.
    ///
    /// - Parameters:
    ///   - path: what paths begin with, such as `/assets`; `/` for all.
    ///   - options: settings of these routes that differ from the server's.
    ///   - folder: the path of the folder; a relative one is below the process's working directory. A server whose folder
    ///     can't be read throws ``RouteError`` when it is to run.
    ///   - serving: how it is served. Default: as in ``FileOptions``.
    public mutating func files(
        _ path: String,
        _ options: RouteOption...,
        from folder: String,
        serving: FileOptions = FileOptions()
    ) {
        mountFiles(at: path, options + [.checking(serving.durations)]) { pattern, depth throws(RouteError) in
            do throws(SocketError) {
                return FileResponder(try ConfinedFolder(path: folder), depth: depth, serving)
            } catch {
                throw RouteError(code: .noFolder, route: "GET \(pattern)", message: error.description)
            }
        }
    }

    /// Answers GET and HEAD with the files of a shared folder, by its rules.
    ///
    /// ```swift
    /// let folder = try SharedFolder("pictures")
    /// server.files("/pictures", from: folder)
    /// ```
    ///
    /// As of a folder by its path, with these differences: clients that may not read there get 403; what the folder
    /// doesn't show is neither sent nor listed, whatever ``FileOptions/showsHidden`` says; the app is asked before a
    /// file is sent (``FolderOptions/before``, also for a folder or a missing file) and notified after it
    /// (``FolderOptions/after``). No cache between may keep the files. Each request opens its file.
    ///
    /// Browsers run nothing of what is in these files, as of what others may have put there: they are sent with
    /// `Content-Security-Policy: sandbox`. Pages of your own are served by the path of their folder.
    ///
    /// - Parameters:
    ///   - path: what paths begin with, such as `/pictures`; `/` for all.
    ///   - options: settings of these routes that differ from the server's, such as who is let in.
    ///   - folder: the folder.
    ///   - serving: how it is served. Default: as in ``FileOptions``.
    public mutating func files(
        _ path: String,
        _ options: RouteOption...,
        from folder: SharedFolder,
        serving: FileOptions = FileOptions()
    ) {
        var serving = serving
        serving.showsHidden = folder.options.showsHidden
        serving.isPrivate = true
        mountFiles(at: path, options + [.checking(serving.durations)]) { [serving] _, depth in
            FileResponder(folder.confined, depth: depth, serving, shared: folder)
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
