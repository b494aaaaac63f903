// Fetches a page over HTTPS with nothing but a socket: `swift run HTTPByHand example.com`.
import DuplexSockets

let host = CommandLine.arguments.dropFirst().first ?? "example.com"
let socket = try await Socket.connect(to: .tls(host, port: 443))
try await socket.write("GET / HTTP/1.0\r\nHost: \(host)\r\n\r\n")

guard let bytes = try await socket.read(until: "\r\n\r\n", limit: 16_384, timeout: .seconds(10)) else {
    fatalError("The server ended the connection instead of answering.")
}
let head = String(decoding: bytes, as: UTF8.self)
print(head)

let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
var count = 0
if let length = field.flatMap({ UInt($0.split(separator: " ").last ?? "") }) {
    count = try await socket.read(exactly: Int(min(length, 1_000_000)), timeout: .seconds(10)).count
} else {
    while let piece = try await socket.read(timeout: .seconds(10)) { count += piece.count }
}
print("-- and a body of \(count) bytes, over \(await socket.tls?.version.description ?? "no TLS")")
await socket.close()
