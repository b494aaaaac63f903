// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire
import HTTPTypes

// Uploads that go on where they were cut off.

extension RouteBuilder {
    /// Takes files by tus 1.0.0: an upload that is cut off anywhere goes on where it stopped, also after a restart of
    /// the server (https://tus.io/protocols/resumable-upload).
    ///
    /// ```swift
    /// let folder = try SharedFolder("public")
    /// server.resumableUploads("/uploads", folder: folder)
    /// ```
    ///
    /// A client names the file in the metadata of the upload: `name` or `filename`, which may lead into folders, `path`
    /// for the folder that they are in, and `clash` for what happens where there is a file: `refuse`, `replace` or
    /// `number`. It has its name once it is whole, and `Upload-Path` says it with the answer to the last bytes. Until
    /// then it lies out of sight in the shared folder. Extensions: creation (with upload, and with the length said
    /// later), termination, checksum (SHA-1, SHA-256, MD5, also after the body), expiration, concatenation.
    ///
    /// A request for an upload ends the one that works on it: what came is kept. It asks for 409 then, and for 423
    /// where that one doesn't end within 10 s. What came with a checksum and was cut off is dropped, as nobody can
    /// check it. What it concerns is kept on the disk as it comes, so also a server that was killed goes on there;
    /// after a loss of power only with ``FolderOptions/syncs``.
    ///
    /// Uploads belong to the user that has begun them. An upload that couldn't get its name, because one of that name
    /// came first, is answered with 409 and stays until it expires.
    ///
    /// Bodies have no limit here but that of the uploads; the other limits of the route hold.
    ///
    /// - Parameters:
    ///   - path: where uploads are made.
    ///   - settings: settings of these routes that differ from the server's.
    ///   - folder: the folder that they go to.
    ///   - options: how they are taken. Default: as in ``ResumableUploadOptions``.
    public mutating func resumableUploads(
        _ path: String,
        _ settings: RouteOption...,
        folder: SharedFolder,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) {
        let check = RouteOption.checking([DurationSetting("lifetime", options.lifetime)])
        add(ResumableUploads(folder, options), at: path, settings + [check])
    }

    mutating func add(_ uploads: ResumableUploads, at path: String, _ options: [RouteOption]) {
        let options = [.bodySize(.unlimited), .inflatesBodies(false)] + options
        // Some clients are given it with a slash at its end.
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        for path in Set([base, base + "/"]).subtracting([""]) {
            answer([.options, .post], at: path, options) { request in try await uploads.answer(request) }
        }
        answer([.options, .head, .patch, .delete, .post], at: base + "/:upload", options) { request in
            try await uploads.answer(request, id: request.parameters["upload"] ?? "")
        }
    }
}
