// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// The client of topics for pages, in Node: topics_client.mjs HOST:PORT OF-THE-NETWORK-THAT-FAILS. Prints what it is told, and
// ends when it is told to.

const [host, failing] = process.argv.slice(2);
const text = await (await fetch(`http://${host}/topics.js`)).text();
const { Topics } = await import("data:text/javascript," + encodeURIComponent(text));
const topics = new Topics(`ws://${failing}/topics`);
// The connection may be lost before the answer, once the test has heard it.
const tell = word => topics.publish("control", word).catch(() => {});

topics.subscribe("secret", () => {}, { failed: error => console.log("secret", error.error) });
topics.subscribe("news/+", async message => {
    console.log(message.topic, message.text, message.gap);
    if (message.text === "first") return tell("begin");
    const { count, members } = await topics.presence("room");
    console.log("room", count, JSON.stringify(members.map(member => member.info)));
    await topics.leave("room");
    console.log("left", (await topics.presence("room")).count);
    topics.close();
    console.log(await topics.publish("control", "").catch(error => error.error));
});
topics.subscribe("kept", message => {
    console.log("kept", message.text, message.gap);
    if (message.text === "end") tell("end");
}, { last: 2 });
let isSeen = false;
topics.watch("room", ({ joined, members = [] }) => {
    const seen = joined ?? members[0];
    if (seen && !isSeen) console.log("joined", seen.info.name);
    isSeen ||= !!seen;
});
await topics.enter("room", { name: "node" });
console.log(await topics.publish("secret", "").catch(error => error.error));
tell("ready");
