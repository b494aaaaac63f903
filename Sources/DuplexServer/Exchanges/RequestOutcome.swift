// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The outcome of a request, once its response is sent or has failed; see ``RouteOption/completed(_:)``.
public struct RequestOutcome: Sendable {
    /// The path of the route as the app has written it, such as `/users/:id`; `nil` where no route answers.
    public let route: String?
    /// The status of the response; `nil` where the client had gone before there was one.
    public let status: HTTPResponse.Status?
    /// How many bytes of the request's body had come by then.
    public let bytesReceived: Int
    /// How many bytes of the response's body were handed to the connection, without what frames them.
    public let bytesSent: Int
    /// The time from the request's head to the last byte of the response that was handed to the connection.
    ///
    /// What the client has taken of it by then is for the system to know.
    public let duration: Duration
    /// Whether the client didn't get a whole response: it has gone, or the body has failed.
    public let isIncomplete: Bool
    /// What the handler or the body has failed with; `nil` for what was thrown to be answered, such as a ``Problem``.
    public let error: (any Error)?
}

/// How far a request had come when it was asked for; see ``ServerConnection/request``.
package struct RequestProgress: Sendable {
    /// Its method.
    package let method: HTTPRequest.Method
    /// Its path, as the client sent it.
    package let path: String
    /// The name of the user that it has been authenticated as.
    package let user: String?
    /// How many bytes of its body have come, as they were sent.
    package let bytesReceived: Int
    /// How many bytes its body has; `nil` where that isn't known before its end.
    package let requestLength: Int?
    /// How many bytes of the response's body were handed to the connection.
    package let bytesSent: Int
    /// How many bytes the response's body has; `nil` before the handler's answer, and where that isn't known before its end.
    package let responseLength: Int?
    /// The time since its head came.
    package let duration: Duration
}
