// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// Fields that many responses have, with the lines that they are on the wire.
package final class PreparedFields: Sendable {
    /// The fields.
    package let fields: HTTPFields
    let lines: [UInt8]

    /// Makes the lines.
    ///
    /// - Parameter fields: none of those that are for the response at hand to decide: Date, Upgrade, and those that concern
    ///   framing.
    package init(_ fields: HTTPFields) {
        precondition(!fields.contains(.date) && !fields.contains(.upgrade), "Date and Upgrade aren't known before.")
        self.fields = fields
        var lines: [UInt8] = []
        for field in fields where !FramingFields.contains(field.name) { HeadWriter.append(field, to: &lines) }
        self.lines = lines
    }
}
