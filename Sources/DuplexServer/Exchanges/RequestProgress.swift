// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// How far a request had come when it was asked for; see ``ServerConnection/request``.
public struct RequestProgress: Sendable {
    /// Its method.
    public let method: HTTPRequest.Method
    /// Its path, as the client sent it.
    public let path: String
    /// The name of the user that it has been authenticated as.
    public let user: String?
    /// How many bytes of its body have come, as they were sent.
    public let receivedBytes: Int
    /// How many bytes its body has; `nil` where that isn't known before its end.
    public let requestLength: Int?
    /// How many bytes of the response's body were handed to the connection.
    public let sentBytes: Int
    /// How many bytes the response's body has; `nil` before the handler's answer, and where that isn't known before its end.
    public let responseLength: Int?
    /// The time since its head came.
    public let duration: Duration
}
