// A transport of the shape that swift-openapi-generator's runtime asks for: operations of an API become routes of a server.
import DuplexServer

typealias Operation =
    @Sendable (HTTPRequest, RequestBody, [String: Substring]) async throws -> (HTTPResponse, ResponseBody)

protocol ServerTransport {
    func register(_ operation: @escaping Operation, method: HTTPRequest.Method, path: String) throws
}

final class DuplexTransport: ServerTransport {
    var server = WebServer(port: 8080)

    func register(_ operation: @escaping Operation, method: HTTPRequest.Method, path: String) {
        // `/notes/{id}` of OpenAPI is `/notes/:id` of a route.
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let route = path.replacing("{", with: ":").replacing("}", with: "")
        server.on(method, route) { request async throws -> Response in
            var parameters: [String: Substring] = [:]
            for name in names { parameters[name] = request.parameters[name, default: ""][...] }
            let (head, body) = try await operation(request.httpRequest, request.body, parameters)
            return Response(head, body: body)
        }
    }
}

let transport = DuplexTransport()
let getNote: Operation = { request, _, parameters in
    (HTTPResponse(status: .ok), .text("note \(parameters["id", default: ""]) at \(request.path ?? "")\n"))
}
let addNote: Operation = { _, body, _ in
    (HTTPResponse(status: .created), .text("\(try await body.collect().count) bytes\n"))
}
transport.register(getNote, method: .get, path: "/notes/{id}")
transport.register(addNote, method: .post, path: "/notes")
try await transport.server.run(until: .terminate, .interrupt)
