// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire
import HTTPTypes

// A folder as a disk on the network.

extension RouteBuilder {
    /// Shares a folder by WebDAV (RFC 4918, classes 1, 2 and 3), so that clients can mount it as a disk.
    ///
    /// ```swift
    /// let folder = try SharedFolder("shared")
    /// server.webDAV("/dav", .basic(realm: "files") { … }, folder: folder)
    /// ```
    ///
    /// Files are written whole or not at all, copied and moved as a whole, and never destroyed by what fails.
    /// Properties that clients give are kept with the files, as extended attributes where the file system has them, and
    /// go where those go. Locks hold against every change by WebDAV, and over a restart. Quotas are reported (RFC
    /// 4331). A PROPFIND of all below a folder is refused with `propfind-finite-depth`; one without the field Depth is
    /// one of depth 1, as clients mean it. A folder with more entries than `FolderOptions.listingLimit` isn't listed in
    /// part: that is 507. `OPTIONS /` and `OPTIONS *` announce WebDAV, too, unless the app answers them: Windows asks there.
    ///
    /// Behind a proxy that sends a `Host` of its own, `X-Forwarded-Host` or `Forwarded` says by which one clients know the
    /// server, or ``WebDAVOptions/publicHosts`` does.
    ///
    /// Bodies of PUT have no limit here but those of the folder; the other limits of the route hold. Reads the locks that are
    /// kept, and blocks for as long as the disk takes.
    ///
    /// Hazard: everybody who may send requests here may change the files: have clients log in, over TLS. Locks are
    /// those of one `webDAV` of one process: they don't hold against others who write to the folder.
    ///
    /// - Parameters:
    ///   - path: where the folder is, such as `/dav`; `/` for the whole server.
    ///   - settings: settings of these routes that differ from the server's.
    ///   - folder: the folder.
    ///   - options: how it is shared. Default: as in ``WebDAVOptions``.
    public mutating func webDAV(
        _ path: String,
        _ settings: RouteOption...,
        folder: SharedFolder,
        options: WebDAVOptions = WebDAVOptions()
    ) {
        let check = RouteOption.checking([DurationSetting("lockTime", options.lockTime)])
        mount(WebDAVHandler(folder, options), at: path, settings + [check])
    }

    mutating func mount(_ handler: WebDAVHandler, at path: String, _ options: [RouteOption]) {
        // Windows asks the root of the server before it mounts a folder below.
        let options = options + [.announcing(WebDAVHandler.announcement)]
        mount(WebDAVHandler.methods.filter { $0 != .put }, at: path, options) { request, depth in
            try await handler.answer(request, depth: depth)
        }
        mount([.put], at: path, [.bodySize(.unlimited)] + options) { request, depth in
            try await handler.answer(request, depth: depth)
        }
    }
}
