// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

// What answers at a path and everywhere below it.

extension RouteBuilder {
    /// Answers methods at a path by one handler, which may wait.
    package mutating func answer(
        _ methods: [HTTPRequest.Method],
        at path: String,
        _ options: [RouteOption],
        _ handler: @escaping @Sendable (Request) async throws -> Response
    ) {
        for method in methods {
            add(RouteDefinition(path: path, options: options, action: .request(method, .made(.task(handler)))))
        }
    }

    /// Answers methods at a path and below it by one handler, which may wait.
    ///
    /// - Parameters:
    ///   - methods: the methods.
    ///   - path: what paths begin with.
    ///   - options: settings of these routes that differ from the server's.
    ///   - handler: gets the request, and how many segments of its path lead to `path`.
    package mutating func mount(
        _ methods: [HTTPRequest.Method],
        at path: String,
        _ options: [RouteOption],
        _ handler: @escaping @Sendable (Request, _ depth: Int) async throws -> Response
    ) {
        let below = path.hasSuffix("/") ? path + "*" : path + "/*"
        for method in methods {
            let source = RouteDefinition.HandlerSource.mounted { pattern throws(RouteError) in
                let depth = pattern.split(separator: "/", omittingEmptySubsequences: false).count - 2
                return .task { request in try await handler(request, depth) }
            }
            add(RouteDefinition(path: below, options: options, action: .request(method, source)))
        }
    }
}
