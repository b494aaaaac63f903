// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

extension Response {
    /// A file, or parts of it, or the word that the client has it already; in no coding.
    ///
    /// - Parameters:
    ///   - file: the file, which is open.
    ///   - path: where it is.
    ///   - name: its name, for its type.
    ///   - request: the request.
    /// - Returns: the response.
    /// - Throws: ``Problem`` with 416.
    package static func file(
        _ file: OpenedFile,
        at path: String,
        named name: String,
        to request: Request
    ) throws -> Response {
        var options = FileOptions()
        options.usesPrecompressed = false
        options.compression = .disabled
        let served = ServedFile(file, path: path, name: name, options)
        return try FileContent(served.plain, served.type).response(to: request)
    }
}
