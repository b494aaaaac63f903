// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire
import HTTPTypes

// A folder in the browser.

extension RouteBuilder {
    /// Shows a folder in the browser: one page to look at files, upload, download, move and delete them.
    ///
    /// ```swift
    /// let folder = try SharedFolder("shared")
    /// server.uploader("/files", folder: folder)
    /// ```
    ///
    /// Uploads resume where they were cut off, deleted files can be restored from the trash, several files are
    /// downloaded as a zip, and changes appear in every window at once, also those by WebDAV or by the app where they
    /// are made by the same `SharedFolder`. Visitors who may only read have no more than that on the page. The page
    /// runs without any inline script or style, asks nobody else for anything, and refers to everything relatively, so
    /// that it works behind a proxy that shows it under another path.
    ///
    /// Below the page there is an API for programs: see <doc:UploaderAPI>. Requests of other sites' pages that would
    /// change something are refused. Errors are problem details (RFC 9457).
    ///
    /// Hazard: by default everybody who may send requests here may change the files (`FolderOptions.access`): have
    /// clients log in, over TLS.
    ///
    /// - Parameters:
    ///   - path: where the page is, such as `/files`; `/` for the whole server.
    ///   - settings: settings of these routes that differ from the server's.
    ///   - folder: the folder.
    ///   - options: how it is shown. Default: as in ``UploaderOptions``.
    public mutating func uploader(
        _ path: String,
        _ settings: RouteOption...,
        folder: SharedFolder,
        options: UploaderOptions = UploaderOptions()
    ) {
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        let all = RouteOption.all([.sameSite(), UploaderAnswer.problems] + settings)
        folder.keepProperties { PropertyDatabase($0, folder.options.logger) }
        let uploader = UploaderHandler(folder, options)
        UploaderPage.site(options).add(at: path, to: &self, all)
        addReading(uploader, base, all)
        addChanging(uploader, base, all)
        // A new upload is below the path that it was made at, whatever a proxy calls that.
        let shortening = RouteOption.after { request, response in
            guard let name = response.headers[.location]?.split(separator: "/").last else { return }
            response.headers[.location] = request.path.hasSuffix("/") ? String(name) : "uploads/\(name)"
        }
        resumableUploads("\(base)/uploads", shortening, all, folder: folder, options: options.uploads)
    }

    private mutating func addReading(_ uploader: UploaderHandler, _ base: String, _ options: RouteOption) {
        get("\(base)/list", options) { request async throws in try await uploader.list(request) }
        get("\(base)/search", options) { request async throws in try await uploader.search(request) }
        get("\(base)/download", options) { request async throws in try await uploader.download(request) }
        get("\(base)/view", options) { request async throws in try await uploader.view(request) }
        get("\(base)/zip", options) { request async throws in try await uploader.zip(request) }
        get("\(base)/trash", options) { request async throws in try await uploader.trash(request) }
        post("\(base)/zip", .bodySize(uploader.options.requestSize), options) { request in
            try await uploader.zipOfForm(request)
        }
        let admitting = RouteOption.before { request throws in
            try uploader.checkReading(request)
            return nil
        }
        events("\(base)/changes", options, admitting) { stream in try await uploader.sendChanges(stream) }
    }

    private mutating func addChanging(_ uploader: UploaderHandler, _ base: String, _ options: RouteOption) {
        let options = RouteOption.all(.bodySize(uploader.options.requestSize), options)
        post("\(base)/create", options) { request in try await uploader.create(request) }
        post("\(base)/move", options) { request in try await uploader.move(request) }
        post("\(base)/copy", options) { request in try await uploader.copy(request) }
        post("\(base)/rename", options) { request in try await uploader.rename(request) }
        post("\(base)/delete", options) { request in try await uploader.delete(request) }
        post("\(base)/restore", options) { request in try await uploader.restore(request) }
        post("\(base)/empty", options) { request in try await uploader.empty(request) }
        post("\(base)/upload", options, .bodySize(.unlimited)) { request in try await uploader.upload(request) }
    }
}
