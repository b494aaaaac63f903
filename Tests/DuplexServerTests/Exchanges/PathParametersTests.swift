// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite struct PathParametersTests {
    @Test("A parameter is found by its name, and read as what it is to be")
    func reading() throws {
        let parameters: PathParameters = ["id": "7", "name": "Jürgen"]
        #expect(parameters["id"] == "7" && parameters["x"] == nil && parameters.count == 2)
        #expect(parameters["x", default: "none"] == "none" && parameters["name", default: "none"] == "Jürgen")
        #expect(try parameters.require("id", as: Int.self) == 7)
        #expect(try parameters.require("name") == "Jürgen")
    }

    @Test("What stands for no such value is 404", arguments: ["x", "", "1.5", "99999999999999999999"])
    func unfit(value: String) async throws {
        let parameters: PathParameters = ["id": value]
        let problem = #expect(throws: Problem.self) { try parameters.require("id", as: Int.self) }
        #expect(problem?.status == .notFound)
        var server = WebServer(port: 0)
        server.get("/users/:id") { request in "user \(try request.parameters.require("id", as: Int.self) + 1)" }
        try await server.test { client async throws in
            #expect(try await client.get("/users/41").text == "user 42")
            #expect(try await client.get("/users/\(value)").status == .notFound)
        }
    }

    @Test("A flag may be a number, and a number that isn't finite is 404")
    func kinds() throws {
        let parameters: PathParameters = ["flag": "1", "number": "nan"]
        #expect(try parameters.require("flag", as: Bool.self))
        #expect(throws: Problem.self) { try parameters.require("number", as: Double.self) }
    }

    @Test("The parameters come in the order of the path, and a path without any has none")
    func sequence() async throws {
        var server = WebServer(port: 0)
        server.get("/:room/:seat") { request in
            request.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        }
        server.get("/") { request in "\(Array(request.parameters).count)" }
        try await server.test { client async throws in
            #expect(try await client.get("/b/a").text == "room=b seat=a")
            #expect(try await client.get("/").text == "0")
        }
    }
}
