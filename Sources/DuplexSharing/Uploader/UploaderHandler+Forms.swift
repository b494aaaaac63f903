// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

// Files of a form, as curl and plain pages send them.

extension UploaderHandler {
    /// How long the texts of the form may be.
    private static let textSize = ByteCount.kibibytes(64)

    /// Takes the files of a form (`multipart/form-data`), each whole or not at all.
    ///
    /// Its fields `path` and `clash` hold for the files behind them.
    func upload(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            var (path, clash) = (FolderPath.root, NameClash.refuse)
            var changes: [(from: FolderPath?, change: FolderChange)] = []
            for try await part in try request.multipart() {
                switch (part.filename, part.name) {
                case (nil, "path"): path = try Self.path(try await part.text(upTo: Self.textSize))
                case (nil, "clash"): clash = try Self.clash(try await part.text(upTo: Self.textSize))
                // A browser sends that where nobody has chosen a file.
                case (nil, _), ("", _): break
                default:
                    let target = try Self.path(path, part.safeFilename ?? "")
                    changes.append((nil, try await write(part, to: target, clash, by: visitor)))
                }
            }
            if changes.isEmpty { throw Problem(.badRequest, "The form has no file.") }
            return try Self.changed(changes)
        }
    }

    private func write(
        _ part: MultipartPart,
        to path: FolderPath,
        _ clash: NameClash,
        by visitor: FolderVisitor
    ) async throws -> FolderChange {
        let upload = try await folder.upload(to: path, clash: clash, size: nil, by: visitor)
        for try await piece in part { try await upload.write(piece) }
        return try await upload.finish()
    }
}
