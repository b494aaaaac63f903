// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Foundation
import HTTPTypes

extension TestClient {
    /// The weak tag of a file that was changed just now.
    ///
    /// A file is new for two seconds of the calendar: a machine that is busy may need more than one try.
    func freshTag(_ path: String, of file: String) async throws -> String {
        while true {
            try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file)
            // The server looks at the file anew.
            await clock.advance(by: .seconds(2))
            let tag = try await get(path).fields[.eTag] ?? ""
            if tag.hasPrefix("W/") { return tag }
            try Task.checkCancellation()
        }
    }
}
