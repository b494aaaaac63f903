// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexPages
import DuplexDeflate
package import DuplexServer
package import DuplexWire
import HTTPTypes

/// A file of the web pages in `Sources/CDuplexPages/web`, which are compiled into the program.
package struct PageFile: Sendable, Equatable {
    /// The name without its folder, such as `app.js`.
    package let name: String
    package let contentType: MediaType
    package let bytes: [UInt8]
    /// Another one for nearly every change of the file.
    package let entityTag: EntityTag?

    package init(named name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        contentType = .ofFile(named: name)
        var sum = CRC32()
        sum.add(bytes.span.raw)
        entityTag = EntityTag("\(String(sum.value, radix: 36))-\(bytes.count)")
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The file as it is sent.
    ///
    /// Browsers keep it, and ask each time whether there is another version.
    package var response: Response {
        var headers: HTTPFields = [.cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        headers[.eTag] = entityTag?.description
        return Response(type: contentType, headers: headers, body: bytes)
    }

    /// The file with a value in each of its places, which are written `{{name}}`.
    ///
    /// - Parameter values: the values by their names. The place of a name without a value stays empty.
    /// - Returns: the file, with each value escaped for HTML. Values aren't searched for places.
    package func filled(with values: [String: String]) -> PageFile {
        let filled = text.replacing(/{{([a-z]+)}}/) { HTMLEscaping.escaped(values[String($0.output.1)] ?? "") }
        return PageFile(named: name, Array(filled.utf8))
    }

    /// The files of a page: those of its folder, and those that all pages share.
    ///
    /// - Parameter folder: the folder.
    /// - Returns: the files, each under a name of its own.
    package static func all(in folder: String) -> [PageFile] { files(in: folder) + files(in: "shared") }

    /// The files of one folder; they are copied from the program at each call.
    package static func files(in folder: String) -> [PageFile] {
        (0..<cduplex_pages_count()).compactMap { index in
            // The pointers lead to constants of the program.
            let file = unsafe cduplex_pages_file(index)
            let path = unsafe String(cString: file.path)
            guard path.hasPrefix(folder + "/") else { return nil }
            let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            return PageFile(named: String(path.dropFirst(folder.count + 1)), bytes)
        }
    }
}
