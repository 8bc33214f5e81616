// Draws the API's description. Every text goes in as text, never as markup.
const add = (parent, tag, text) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

const row = (table, name, text) => {
  const line = add(table, "tr");
  add(add(line, "th"), "code", name);
  add(line, "td", text);
};

const resolve = (api, part) =>
  part.$ref ? part.$ref.slice(2).split("/").reduce((at, name) => at[name], api) : part;

const draw = (api) => {
  const place = document.getElementById("routes");
  place.replaceChildren();
  add(place, "p", api.info.description);
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      add(add(place, "h2"), "code", `${method.toUpperCase()} ${path}`);
      add(place, "p", route.summary + (route.description ? ` ${route.description}` : ""));
      const table = add(place, "table");
      for (const part of route.parameters ?? []) {
        const parameter = resolve(api, part);
        row(table, `${parameter.in} ${parameter.name}`, parameter.description ?? "");
      }
      const body = resolve(api, route.requestBody?.content["application/json"].schema ?? {});
      for (const [name, member] of Object.entries(body.properties ?? {})) {
        const needed = body.required?.includes(name) ? " (required)" : "";
        row(table, `body ${name}`, `${member.description ?? ""}${needed}`);
      }
      for (const [status, part] of Object.entries(route.responses)) {
        row(table, status, resolve(api, part).description);
      }
    }
  }
};

fetch("/openapi.json").then((answer) => answer.json()).then(draw).catch(() => {
  document.getElementById("routes").textContent = "/openapi.json could not be read.";
});
