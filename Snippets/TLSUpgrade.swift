// A client of a mail server that secures the connection before it says anything that matters (SMTP, RFC 3207).
import DuplexSockets

/// Sends a command, and prints the answer: all of its lines but the last have a hyphen behind the number.
func ask(_ command: String?, on socket: Socket) async throws -> String {
    if let command { try await socket.write(command + "\r\n") }
    while let line = try await socket.readLine(limit: 1_000, timeout: .seconds(30)) {
        print(line)
        if line.dropFirst(3).first != "-" { return line }
    }
    throw SocketError(.endOfStream, message: "The server ended the connection instead of answering.")
}

let socket = try await Socket.connect(to: .host("localhost", port: 2525))
_ = try await ask(nil, on: socket)
_ = try await ask("EHLO me.example", on: socket)
guard try await ask("STARTTLS", on: socket).hasPrefix("220") else { fatalError("The server has no TLS.") }
try await socket.startTLS()
if let tls = await socket.tls { print("-- \(tls.version), \(tls.cipherSuite)") }
_ = try await ask("EHLO me.example", on: socket)
_ = try await ask("QUIT", on: socket)
await socket.close()
