// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Where an upload is to be, by what its client says of it.
struct UploadTarget: Equatable {
    let path: FolderPath
    let clash: NameClash

    /// Reads the metadata: `path` is the folder, `name` or `filename` the name, which may lead into folders below it, and
    /// `clash` is `refuse`, `replace` or `number`.
    ///
    /// - Throws: ``UploadRefusal`` where that is no path.
    init(_ metadata: UploadMetadata, clash usual: NameClash) throws(UploadRefusal) {
        guard let name = metadata["name"] ?? metadata["filename"], !name.isEmpty else {
            throw UploadRefusal(.badRequest, "Upload-Metadata says by “name” what the file is to be called.")
        }
        guard let folder = FolderPath(metadata["path"] ?? ""), let below = FolderPath(name), !below.isRoot,
            let path = FolderPath(folder.names + below.names)
        else { throw UploadRefusal(.forbidden, "The path that Upload-Metadata says can't be one.") }
        guard let clash = metadata["clash"].map(NameClash.init(rawValue:)) ?? usual else {
            throw UploadRefusal(.badRequest, "“clash” is refuse, replace or number.")
        }
        self.path = path
        self.clash = clash
    }
}
