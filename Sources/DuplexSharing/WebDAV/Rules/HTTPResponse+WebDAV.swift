// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

// The statuses of WebDAV.

extension HTTPResponse.Status {
    /// Of several resources (RFC 4918 section 11.1).
    static let multi = HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status")
    /// RFC 4918 section 11.3.
    static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    /// Something else had to be done first, and wasn't (RFC 4918 section 11.4).
    static let failedDependency = HTTPResponse.Status(code: 424, reasonPhrase: "Failed Dependency")
    /// RFC 4918 section 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
