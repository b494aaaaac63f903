// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
public import HTTPTypes

extension RouteOption {
    /// Gives each request an id, which goes back with the response.
    ///
    /// - Parameters:
    ///   - name: the field. Default: `X-Request-ID`.
    ///   - trustsProxy: whether an id that comes with the request is kept, where a proxy in front has made it. Default: false.
    /// - Returns: the option.
    public static func requestID(_ name: HTTPField.Name? = nil, trustsProxy: Bool = false) -> RouteOption {
        let name = name ?? .xRequestID
        return .all(
            .before { request in
                let given = trustsProxy ? request.head.value(of: name).flatMap(fit) : nil
                request[RequestID.self] = given ?? RandomText.hexadecimal()
                return nil
            },
            .after { request, response in
                // Middleware in front of this may have answered, before there was an id.
                let id = request[RequestID.self] ?? RandomText.hexadecimal()
                request[RequestID.self] = id
                response.otherFields[name] = id
            }
        )
    }

    /// What may stand in logs and in a field again.
    private static func fit(_ text: String) -> String? {
        let isFit = (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isFit ? text : nil
    }
}
